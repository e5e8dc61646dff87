// src/device/text.h: programs of text that the user wrote in a device's own language.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pardo/dtype.h>
#include <pardo/event.h>

#include "base/small_vector.h"
#include "base/text.h"
#include "device/program.h"

namespace pardo::device {

class Queue;
class Stream;
struct NativeOrder;

struct ProgramText {
    std::string text;                  // or a module of SPIR-V
    std::vector<std::string> options;  // for the device's compiler
    /// False if the compiler may read other files, which may change: such programs are not kept.
    bool self_contained() const;
};

/// True for a module of SPIR-V in either byte order, by its first word.
bool is_spirv(std::string_view text);

/// What a driver tells of a parameter.
struct TextParameter {
    enum class Kind : std::uint8_t {
        Any,      // it does not tell
        Pointer,  // to global or constant memory
        Local,    // to memory of a group
        Value,
        Other,  // images, samplers, pipes
    };
    Kind kind = Kind::Any;
    bool read_only = false;      // a pointer to what the kernel does not write
    bool any_sign = false;       // of integers: it does not tell whether they are signed
    std::string name, type;      // "x", "float*"; may be empty
    std::size_t bytes = 0;       // of a value; 0: unknown
    std::optional<DType> dtype;  // of a value that is a number, or of the elements behind a pointer
};

struct TextKernel {
    Text name;
    std::vector<TextParameter> parameters;
    std::int64_t most_items = 0;          // in a group
    std::int64_t most_local = 0;          // bytes of a group that a launch may add to what the text declares
    std::array<std::int64_t, 3> group{};  // the only size of groups, where the text names one
};

struct TextArgument {
    enum class Kind : std::uint8_t { Value, Pointer, Local };
    Kind kind = Kind::Value;
    std::size_t bytes = 0;                // of the value, of the array, of the group's memory
    SmallVector<std::uint64_t, 2> words;  // the value from the low end; the address
    Buffer* buffer = nullptr;             // behind a pointer
};

struct TextLaunch {
    std::vector<TextArgument> arguments;
    int rank = 1;
    std::array<std::int64_t, 3> global{1, 1, 1};  // items, none of them 0
    std::array<std::int64_t, 3> local{};          // items of a group; all 0: the device chooses
};

/// Loaded for one device. Immutable, shared, kept by the program cache.
class TextProgram : public Program {
public:
    /// `alignment`: at which bytes of their memory arrays may begin. `local_apart`: memory of groups is not a parameter.
    TextProgram(std::vector<TextKernel> kernels, std::int64_t alignment, bool local_apart)
        : Program("Program"), kernels_(std::move(kernels)), alignment_(alignment), local_apart_(local_apart) {}

    const std::vector<TextKernel>& kernels() const noexcept { return kernels_; }
    std::int64_t alignment() const noexcept { return alignment_; }
    bool local_apart() const noexcept { return local_apart_; }
    /// Runs kernels()[kernel] on a queue of its device; arguments and groups fit it. `uses`: as of a Launch.
    Event launch(Queue* queue, std::size_t kernel, TextLaunch launch, std::span<const BufferUse> uses, std::span<const Event> depends);

private:
    virtual void enqueue(Stream& stream, std::size_t kernel, const TextLaunch& launch, const NativeOrder& order) = 0;

    const std::vector<TextKernel> kernels_;
    const std::int64_t alignment_;
    const bool local_apart_;
};

}  // namespace pardo::device
