// src/backend/cuda/libraries/nvrtc.h: NVIDIA's run-time compiler: CUDA C++ text in, cubin or PTX out. Works without a driver.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "device/text.h"
#include "jit/cache.h"

namespace pardo::cuda {

/// Options of all our programs: products and sums are rounded one by one, as everywhere else, but where the user has allowed `fast` math.
std::span<const char* const> default_options(bool fast = false);

/// Compiles text for an architecture: "sm_90" gives a cubin, "compute_90" PTX. `name` is for messages, which hold the compiler's own words
/// and the line of the text that they are about. Throws Compile; Import when NVRTC is not installed, with where it was looked for.
jit::Binary compile_text(const std::string& name, const std::string& text, std::span<const char* const> options, const std::string& arch);

/// What the user's own text becomes: cubin or PTX as above, and PTX in any case. Messages hold all that the compiler says.
struct UserImage {
    jit::Binary image;
    std::string ptx, log;
};
UserImage compile_user_text(const device::ProgramText& given, const std::string& arch);

/// What NVRTC can make for a device: "sm_90", or when NVRTC is older than the device the newest "compute_…" that it knows, and why.
struct Target {
    std::string arch;
    std::string reason;  // empty when `arch` is the device's own
};
/// Throws Import without NVRTC; Compile when NVRTC has dropped so old a device.
Target target_for(int major, int minor);

/// The architectures that NVRTC makes machine code for, ascending: 80 for "sm_80". Throws Import without NVRTC, which `op_name` needs.
std::vector<int> nvrtc_architectures(const std::string& op_name);

/// Which of these targets serves a device: machine code for its architecture or, with the same major number, one before it, else the newest
/// PTX that is not newer than the device.
std::optional<std::size_t> packed_target(std::span<const std::string> targets, int major, int minor);

/// "NVRTC 13.0" once it is loaded (it is by this call if possible); empty when it is not installed.
std::string nvrtc_version();
/// A thread that loads it, where it is installed.
std::jthread load_nvrtc_aside();
/// Why NVRTC cannot be used and what to do; empty when it can.
std::string nvrtc_unavailable();

}  // namespace pardo::cuda
