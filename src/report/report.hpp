// Report: one HTML file that shows what was measured, what was planned and what speaks against it.
//
// Self-contained: no script, no image, no font, no request to anywhere; light and dark by the reader's
// setting; readable without colour. Every figure is taken from the artifacts as it stands there, unknown
// stays "unknown", every string is escaped. Pure, thread safe. Errors: none; a part without its artifact says
// which command makes it.
#pragma once

#include <optional>
#include <string>

#include "artifact/artifacts.hpp"
#include "artifact/simulate.hpp"

namespace headroom::report {

struct ReportInput {
  std::string title;    // the endpoint
  std::string created;  // ISO 8601
  std::optional<artifact::QmaxArtifact> qmax;
  std::optional<artifact::TtotalArtifact> ttotal;
  std::optional<artifact::PlanArtifact> plan;
  std::optional<artifact::SimulateArtifact> simulate;
};

std::string render(const ReportInput& input);

}  // namespace headroom::report
