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
#include "device/image.h"
#include "device/program.h"

namespace pardo::device {

class Queue;
class Stream;
struct NativeOrder;

/// What a driver loads, behind what it does not tell of it.
using ProgramBinary = std::vector<std::uint8_t>;

struct ProgramText {
    std::string text;                                            // or a module of SPIR-V
    std::vector<std::string> options;                            // for the device's compiler
    std::vector<std::pair<std::string, std::string>> headers{};  // names that texts include, and their texts
    std::vector<std::string> others{};                           // texts that are compiled apart, and linked with the first
    ProgramBinary binary{};                                      // in place of text: what binary() of a program gave, or the driver's own
    /// False if the compiler may read other files, which may change: such programs are not kept.
    bool self_contained() const;
    /// All that is compiled, for keys.
    std::string whole() const;
};

/// True for a module of SPIR-V in either byte order, by its first word.
bool is_spirv(std::string_view text);
/// True if the words of a module of SPIR-V are instructions one after the other: drivers may not come back from one that is cut off.
bool is_whole_spirv(std::string_view module);

/// The form in which users keep a program's binary: its first line says what it is.
std::string packed_for_user(const ProgramBinary& binary);
bool is_packed(const ProgramBinary& given);
/// Without that line.
ProgramBinary unpacked(const ProgramBinary& given);

/// What a driver tells of a parameter.
struct TextParameter {
    enum class Kind : std::uint8_t {
        Any,      // it does not tell
        Pointer,  // to global or constant memory
        Local,    // to memory of a group
        Value,
        Image,
        Sampler,
        Other,  // pipes
    };
    Kind kind = Kind::Any;
    bool read_only = false;      // a pointer to what the kernel does not write, or such an image
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
    // What the driver tells of it beside; -1: nothing.
    std::int64_t multiple = -1;       // of items that groups best have
    std::int64_t local_bytes = -1;    // of a group, that the text declares
    std::int64_t private_bytes = -1;  // of an item, in memory
    std::int64_t registers = -1;      // of an item
};

struct TextArgument {
    enum class Kind : std::uint8_t { Value, Pointer, Local };
    Kind kind = Kind::Value;
    std::size_t bytes = 0;                // of the value, of the array, of the group's memory
    SmallVector<std::uint64_t, 2> words;  // the value from the low end; the address
    Buffer* buffer = nullptr;             // behind a pointer; an image's texels
    Ref<Image> image{};                   // whose handle the value is
};

struct TextLaunch {
    std::vector<TextArgument> arguments;
    int rank = 1;
    std::array<std::int64_t, 3> global{1, 1, 1};  // items, none of them 0
    std::array<std::int64_t, 3> local{};          // items of a group; all 0: the device chooses
    std::array<std::int64_t, 3> offset{};         // of the first item
};

/// Loaded for one device. Immutable, shared, kept by the program cache.
class TextProgram : public Program {
public:
    /// `alignment`: at which bytes of their memory arrays may begin. `local_apart`: memory of groups is not a parameter.
    /// `binary`, `log`: what it was loaded from, and what the compiler said.
    TextProgram(std::vector<TextKernel> kernels, std::int64_t alignment, bool local_apart, ProgramBinary binary, std::string log)
        : Program("Program"),
          kernels_(std::move(kernels)),
          alignment_(alignment),
          local_apart_(local_apart),
          binary_(std::move(binary)),
          log_(std::move(log)) {}

    const std::vector<TextKernel>& kernels() const noexcept { return kernels_; }
    std::int64_t alignment() const noexcept { return alignment_; }
    bool local_apart() const noexcept { return local_apart_; }
    /// From which it can be loaded again; empty where the driver gives none.
    const ProgramBinary& binary() const noexcept { return binary_; }
    const std::string& log() const noexcept { return log_; }
    /// Runs kernels()[kernel] on a queue of its device; arguments and groups fit it. `uses`: as of a Launch.
    Event launch(Queue* queue, std::size_t kernel, TextLaunch launch, std::span<const BufferUse> uses, std::span<const Event> depends);

private:
    virtual void enqueue(Stream& stream, std::size_t kernel, const TextLaunch& launch, const NativeOrder& order) = 0;

    const std::vector<TextKernel> kernels_;
    const std::int64_t alignment_;
    const bool local_apart_;
    const ProgramBinary binary_;
    const std::string log_;
};

}  // namespace pardo::device
