// AS 241 and the expansion of Student's quantile.
#include "stats/quantile.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace headroom::stats {
namespace {

using Eight = std::array<double, 8>;  // coefficients from the constant up

constexpr Eight kCentreTop{3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427,
                           13731.693765509461125, 45921.953931549871457, 67265.770927008700853,
                           33430.575583588128105, 2509.0809287301226727};
constexpr Eight kCentreBottom{1.0,
                              42.313330701600911252,
                              687.18700749205790830,
                              5394.1960214247511077,
                              21213.794301586595867,
                              39307.895800092710610,
                              28729.085735721942674,
                              5226.4952788528545610};
constexpr Eight kNearTop{1.42343711074968357734,   4.63033784615654529590,   5.76949722146069140550,
                         3.64784832476320460504,   1.27045825245236838258,   0.241780725177450611770,
                         0.0227238449892691845833, 7.74545014278341407640e-4};
constexpr Eight kNearBottom{1.0,
                            2.05319162663775882187,
                            1.67638483018380384940,
                            0.689767334985100004550,
                            0.148103976427480074590,
                            0.0151986665636164571966,
                            5.47593808499534494600e-4,
                            1.05075007164441684324e-9};
constexpr Eight kFarTop{6.65790464350110377720,    5.46378491116411436990,   1.78482653991729133580,
                        0.296560571828504891230,   0.0265321895265761230930, 0.00124266094738807843860,
                        2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr Eight kFarBottom{1.0,
                           0.599832206555887937690,
                           0.136929880922735805310,
                           0.0148753612908506148525,
                           7.86869131145613259100e-4,
                           1.84631831751005468180e-5,
                           1.42151175831644588870e-7,
                           2.04426310338993978564e-15};

double ratio(const Eight& top, const Eight& bottom, double r) {
  double a = 0, b = 0;
  for (std::size_t i = top.size(); i-- > 0;) {
    a = a * r + top[i];
    b = b * r + bottom[i];
  }
  return a / b;
}

}  // namespace

double normal_quantile(double p) {
  if (!(p > 0) || !(p < 1)) return std::numeric_limits<double>::quiet_NaN();
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) return q * ratio(kCentreTop, kCentreBottom, 0.180625 - q * q);
  const double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  const double x = r <= 5 ? ratio(kNearTop, kNearBottom, r - 1.6) : ratio(kFarTop, kFarBottom, r - 5);
  return q < 0 ? -x : x;
}

double student_quantile(double p, double dof) {
  if (!(p > 0) || !(p < 1) || !(dof >= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (dof < 2) return std::tan(std::numbers::pi * (p - 0.5));
  if (dof < 3) return (2 * p - 1) / std::sqrt(2 * p * (1 - p));
  const double z = normal_quantile(p);
  const double z2 = z * z;
  const double g1 = (z2 + 1) * z / 4;
  const double g2 = ((5 * z2 + 16) * z2 + 3) * z / 96;
  const double g3 = (((3 * z2 + 19) * z2 + 17) * z2 - 15) * z / 384;
  const double g4 = ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) * z / 92160;
  return z + (g1 + (g2 + (g3 + g4 / dof) / dof) / dof) / dof;
}

}  // namespace headroom::stats
