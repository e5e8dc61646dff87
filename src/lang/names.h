// src/lang/names.h: names that a program cannot have, of what a walk keeps beside its variables.
#pragma once

namespace pardo::lang {

/// Flags of what was left early, and what a function gives, which counts where it has returned.
inline constexpr const char *break_flag = "$break", *continue_flag = "$continue", *return_flag = "$return", *result_name = "$value";
/// Of functions that draw random numbers: iterations of loops so far, and what the launch gives as the key.
inline constexpr const char *draws_name = "$draws", *key_name = "$key";

}  // namespace pardo::lang
