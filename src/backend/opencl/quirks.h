// src/backend/opencl/quirks.h: faults of drivers that are worked around.
#pragma once

#include <string>

namespace pardo::opencl {

/// Each has one row in quirks.cpp, which says whose it is, what goes wrong, and which test would see it.
enum class Quirk {
    VectorLoops,
    BarriersInConditions,
    HiddenMasks,
    HalfImages,
    MaskedAbs,
    ConvertedLongs,
    CountedDoubles,
    FoldedPairs,
    PassedNames,
    CountedLaunches,
};

/// Whether the devices of a platform have it. `version`: of the platform. `lanes`: the device is a processor whose kernels run without
/// groups, as loops of the driver's.
bool has_quirk(Quirk quirk, const std::string& platform, const std::string& version, bool processor, bool lanes);

/// Sets what a driver reads from the environment when it compiles, unless the user has: PoCL 5.0, 7.0 and 7.1 cut kernels with barriers
/// into loops wrongly (commits ada4a8f2d and 40c687734, in 7.2, mend the latter two; 6.0 is right), and compile them right by their other
/// method. `version`: of the platform.
void set_environment(const std::string& platform, const std::string& version);
/// Whether PoCL compiles by that method and is so old that it knows no functions of sub-groups then: the process would end.
bool lacks_sub_groups(const std::string& platform, const std::string& version);

}  // namespace pardo::opencl
