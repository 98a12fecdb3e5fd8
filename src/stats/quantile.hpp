// Quantiles of the normal and of Student's distribution.
//
// Pure; thread safe; no errors: outside their range the result is NaN. normal_quantile: Wichura's AS 241
// (PPND16, Applied Statistics 37, 1988), relative error 1e-16. student_quantile: Hill's algorithm 396 in the
// form of Abramowitz and Stegun 26.7.5 (expansion in 1/dof), within 1 % from 3 degrees of freedom at the
// levels used here; below 3 it is exact (Cauchy, and the closed form for 2).
#pragma once

namespace headroom::stats {

double normal_quantile(double p);                           // 0 < p < 1
double student_quantile(double p, double degrees_freedom);  // 0 < p < 1, degrees_freedom >= 1

}  // namespace headroom::stats
