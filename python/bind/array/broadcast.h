// python/bind/array/broadcast.h: arrays broadcast to each other for a call, which is named where their shapes do not fit.
#pragma once

#include <string>
#include <vector>

#include <pardo/error.h>
#include <pardo/ops.h>

namespace bind {

/// "(2, 3)", "(2,)".
inline std::string shape_text(pardo::Extents shape) {
    std::string text = "(";
    for (std::size_t d = 0; d < shape.size(); ++d) text += (d ? ", " : "") + std::to_string(shape[d]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

/// Views of one shape. Of a call with `where` that is the last of the arrays.
inline std::vector<pardo::Array> broadcast_for(const char* op_name, const std::vector<pardo::Array>& arrays, bool where = false) {
    try {
        return pardo::broadcast_arrays(arrays);
    } catch (const pardo::Error& error) {
        if (error.code() != pardo::ErrorCode::Value) throw;
        std::string text = std::string(op_name) + ": operands could not be broadcast together with shapes";
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            text += (where && i + 1 == arrays.size() ? " and where of shape " : " ") + shape_text(arrays[i].shape());
        }
        throw pardo::Error(pardo::ErrorCode::Value, text);
    }
}

}  // namespace bind
