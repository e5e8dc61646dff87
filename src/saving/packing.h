// src/saving/packing.h: many texts that are nearly the same, as few bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "saved/program.h"

namespace pardo::saving {

/// What is in the form's file of its contents, which are one after another here.
std::vector<std::uint8_t> packed(const std::vector<std::uint8_t>& contents);
/// The contents of a form. Throws Value, beginning with `name`, where they are damaged.
std::vector<std::vector<std::uint8_t>> unpacked(const saved::Form& form, const std::string& name);

}  // namespace pardo::saving
