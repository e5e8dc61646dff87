// src/capi/programs.cpp: kernels of text as native code compiles and launches them.
#include <span>
#include <string>
#include <vector>

#include <pardo/program.h>

#include "capi/functions.h"
#include "capi/handle.h"
#include "ir/eval.h"

namespace pardo::capi {
namespace {

ProgramArgument argument_from(const pardo_argument& given, std::size_t k) {
    const std::string name = "argument " + std::to_string(k);
    const auto value = [&] {
        require("program_launch", given.value, (name + "'s value").c_str());
        return static_cast<const std::byte*>(given.value);
    };
    switch (given.kind) {
        case PARDO_ARG_ARRAY: {
            Array x(as_node("program_launch", given.array, name.c_str()));
            if (x.pending()) InWork::refuse("program_launch");
            return x;
        }
        case PARDO_ARG_NUMBER: return ir::read_element(dtype_of("program_launch", given.dtype), value());
        case PARDO_ARG_BYTES: return std::vector<std::byte>(value(), value() + given.bytes);
        case PARDO_ARG_LOCAL: return LocalMemory{static_cast<std::int64_t>(given.bytes)};
        case PARDO_ARG_NULL: return nullptr;
        default:
            throw Error(ErrorCode::Value,
                        "program_launch: " + name + " is of the kind " + std::to_string(given.kind) + ", which does not exist");
    }
}

NdRange range_from(const pardo_range* given) {
    require("program_launch", given, "range");
    const pardo_range range = given_struct("program_launch", *given, "range");
    if (range.ndim < 1 || range.ndim > 3)
        throw Error(ErrorCode::Value, "program_launch: the range has " + std::to_string(range.ndim) + " dimensions; 1 to 3");
    NdRange out;
    out.global.assign(range.global, range.global + range.ndim);
    if (range.local[0] != 0) out.local.assign(range.local, range.local + range.ndim);
    return out;
}

}  // namespace

pardo_status program_new(pardo_device device, const char* text, size_t bytes, const char* language, const char* const* options,
                         size_t n_options, pardo_program* out) {
    return guarded("program_new", [&] {
        require("program_new", text, "text");
        require("program_new", out, "out");
        if (n_options > 0) require("program_new", options, "options");
        const Device on(as_device("program_new", device));
        std::vector<std::string> given;
        for (size_t k = 0; k < n_options; ++k) {
            require("program_new", options[k], "an option");
            given.emplace_back(options[k]);
        }
        const std::string whole = bytes == 0 ? std::string(text) : std::string(text, bytes);
        *out = give(Ref<CompiledText>(new CompiledText(Program(on, whole, language ? language : "", given))));
    });
}

pardo_status program_launch(pardo_queue queue, pardo_program program, const char* kernel, const pardo_argument* arguments, size_t n,
                            const pardo_range* range, const pardo_event* after, size_t n_after, pardo_event* out) {
    return guarded("program_launch", [&] {
        const Queue own(as_queue("program_launch", queue));
        const Program& compiled = as_program("program_launch", program);
        require("program_launch", kernel, "kernel");
        if (n > 0) require("program_launch", arguments, "arguments");
        std::vector<ProgramArgument> given;
        given.reserve(n);
        for (std::size_t k = 0; k < n; ++k) given.push_back(argument_from(arguments[k], k));
        const NdRange space = range_from(range);
        const std::vector<Event> depends = events_of("program_launch", after, n_after);
        const Event event = compiled.launch(kernel, given, space, &own, depends);
        if (out) *out = give(event);
    });
}

}  // namespace pardo::capi
