// The sections of the report, one function each; used inside report alone. Each returns HTML.
#pragma once

#include <string>

#include "report/report.hpp"

namespace headroom::report {

std::string tiles(const ReportInput& input);
std::string latency_section(const artifact::QmaxArtifact& qmax);
std::string stages_section(const artifact::TtotalArtifact& ttotal);
std::string plan_section(const artifact::PlanArtifact& plan);
std::string findings_section(const artifact::PlanArtifact& plan);
std::string simulation_section(const artifact::SimulateArtifact& simulate,
                               const std::optional<artifact::PlanArtifact>& plan);
std::string provenance_section(const ReportInput& input);

}  // namespace headroom::report
