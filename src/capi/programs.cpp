// src/capi/programs.cpp: kernels of text as native code compiles and launches them.
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pardo/program.h>

#include "base/fork.h"
#include "capi/functions.h"
#include "capi/handle.h"
#include "ir/eval.h"

namespace pardo::capi {
namespace {

ProgramArgument argument_from(const char* function, const pardo_argument& given, std::size_t k) {
    const std::string name = "argument " + std::to_string(k);
    const auto value = [&] {
        require(function, given.value, (name + "'s value").c_str());
        return static_cast<const std::byte*>(given.value);
    };
    switch (given.kind) {
        case PARDO_ARG_ARRAY: {
            Array x(as_node(function, given.array, name.c_str()));
            if (x.pending()) InWork::refuse(function);
            return x;
        }
        case PARDO_ARG_NUMBER: return ir::read_element(dtype_of(function, given.dtype), value());
        case PARDO_ARG_BYTES: return std::vector<std::byte>(value(), value() + given.bytes);
        case PARDO_ARG_LOCAL: return LocalMemory{static_cast<std::int64_t>(given.bytes)};
        case PARDO_ARG_NULL: return nullptr;
        default:
            throw Error(ErrorCode::Value,
                        std::string(function) + ": " + name + " is of the kind " + std::to_string(given.kind) + ", which does not exist");
    }
}

NdRange range_from(const char* function, const pardo_range* given) {
    require(function, given, "range");
    const pardo_range range = given_struct(function, *given, "range");
    if (range.ndim < 1 || range.ndim > 3)
        throw Error(ErrorCode::Value, std::string(function) + ": the range has " + std::to_string(range.ndim) + " dimensions; 1 to 3");
    NdRange out;
    out.global.assign(range.global, range.global + range.ndim);
    if (range.local[0] != 0) out.local.assign(range.local, range.local + range.ndim);
    return out;
}

/// What a launch is given besides the program.
struct GivenLaunch {
    const char* kernel;
    std::span<const pardo_argument> arguments;
    const pardo_range* range;
    std::span<const pardo_event> after;
};

Event launch(const char* function, const Queue& queue, const Program& program, const GivenLaunch& of) {
    require(function, of.kernel, "kernel");
    if (!of.arguments.empty()) require(function, of.arguments.data(), "arguments");
    std::vector<ProgramArgument> given;
    given.reserve(of.arguments.size());
    for (std::size_t k = 0; k < of.arguments.size(); ++k) given.push_back(argument_from(function, of.arguments[k], k));
    const NdRange space = range_from(function, of.range);
    const std::vector<Event> depends = events_of(function, of.after.data(), of.after.size());
    return program.launch(of.kernel, given, space, &queue, depends);
}

/// Programs of launch_text; they stay, up to a number.
struct Texts {
    static constexpr std::size_t most =
        256;  // of a program that writes its texts itself, the rest is compiled again, from the program cache
    HeldMutex mutex;
    std::map<std::pair<device::Device*, std::string>, Program, std::less<>> programs;
};
Texts& texts() {
    static auto& all = *new Texts;
    return all;
}
[[maybe_unused]] const Texts& texts_at_start = texts();  // see at_fork

Program program_of(device::Device* device, const char* text) {
    Texts& all = texts();
    std::pair<device::Device*, std::string> key{device, text};
    {
        const std::lock_guard lock(all.mutex);
        if (const auto at = all.programs.find(key); at != all.programs.end()) return at->second;
    }
    const Program made(Device(device), key.second);
    const std::lock_guard lock(all.mutex);
    if (all.programs.size() >= Texts::most) all.programs.clear();
    return all.programs.emplace(std::move(key), made).first->second;
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
        const Event event = launch("program_launch", own, compiled, {kernel, {arguments, n}, range, {after, n_after}});
        if (out) *out = give(event);
    });
}

pardo_status launch_text(pardo_queue queue, const char* text, const char* kernel, const pardo_argument* arguments, size_t n,
                         const pardo_range* range, const pardo_event* after, size_t n_after, pardo_event* out) {
    return guarded("launch_text", [&] {
        const Queue own(as_queue("launch_text", queue));
        require("launch_text", text, "text");
        const Program program = program_of(own.impl()->device(), text);
        const Event event = launch("launch_text", own, program, {kernel, {arguments, n}, range, {after, n_after}});
        if (out) *out = give(event);
    });
}

}  // namespace pardo::capi
