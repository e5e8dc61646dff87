// src/saved/program.h: a program that has left the process: what it takes and gives, its plans, and machine code for some processors.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <pardo/dtype.h>

#include "base/hash.h"
#include "base/launch_cost.h"
#include "base/scalar_words.h"
#include "base/sizing.h"

namespace pardo::saved {

/// The format of files: those of another major version are refused, those of an older minor version are read.
inline constexpr std::uint32_t format_major = 1, format_minor = 1;  // 1.1: parts for devices
inline constexpr std::size_t most_dimensions = 64;
/// The function of each object: its arguments are those of cpu::CpuProgram::Entry.
inline constexpr const char* entry_symbol = "pardo_entry";

/// A number of a plan: itself, or the value of an expression.
struct Number {
    std::int64_t literal = 0;
    std::int32_t expression = -1;
    std::int64_t in(std::span<const std::int64_t> values) const { return expression < 0 ? literal : values[expression]; }
};

/// A float: itself, its product with what an expression gives, itself divided by that, the reciprocal of its root, or the root.
struct Real {
    enum class Kind : std::uint8_t { Literal, Product, Quotient, RootReciprocal, Root };
    Kind kind = Kind::Literal;
    double literal = 0;
    Number of;
    double in(std::span<const std::int64_t> values) const;
};
/// Where a word of a launch comes from; as device::Signature::Patch.
struct Patch {
    std::uint16_t word = 0;
    std::uint32_t value = 0;  // an argument, a constant, a slot or scratch, in this order
    Number bytes;             // from its first element
};
/// A number that a size gives, as a scalar of a dtype.
struct SizeWord {
    std::uint16_t word = 0;
    DType dtype{};
    Number value;
};
/// The same of a float, as it is in its own dtype.
struct RealWord {
    std::uint16_t word = 0;
    DType dtype{}, own{};
    Real value;
};
struct Use {
    std::uint32_t value = 0;
    bool reads = false, writes = false;
};

/// What may fail in a kernel of the user; as plan::CapturedFailure.
struct Failure {
    std::uint8_t code = 0;  // ErrorCode
    std::string message;
};
/// The value of a Patch that is the status block: words in which a kernel leaves its first failure.
inline constexpr std::uint32_t status_value = ~0u;
inline constexpr std::size_t status_words = 8;
/// Throws what a kernel has left in its status block, if anything.
void check_status(const std::int64_t* words, const std::vector<Failure>& failures, int rank);

/// One launch.
struct Launch {
    std::uint32_t code = 0;
    std::vector<Number> extents;
    std::vector<Number> words;  // those that are no addresses are complete
    std::vector<Patch> addresses;
    std::vector<SizeWord> scalars;
    std::vector<RealWord> reals;
    std::vector<Use> uses;
    // What is told of its work.
    Number elements, operations, bytes_read, bytes_written;
    double element_cost = 0;  // in additions
    std::vector<Failure> failures;

    /// The range for some values; false where it is empty.
    bool range(std::span<const std::int64_t> values, std::vector<std::int64_t>& out) const {
        out.clear();
        bool any = true;
        for (const Number& n : extents) {
            out.push_back(n.in(values));
            any = any && out.back() > 0;
        }
        return any;
    }
    /// The words for some values; address(value): where the first element of an argument, constant, slot or scratch is, or the status
    /// block.
    template <class Words, class Address> void bind(std::span<const std::int64_t> values, const Address& address, Words& out) const {
        for (const Number& n : words) out.push_back(static_cast<std::uint64_t>(n.in(values)));
        for (const SizeWord& scalar : scalars) {
            const ScalarWords number = scalar_words(Scalar(scalar.value.in(values)).cast(scalar.dtype));
            for (int w = 0; w < number.count; ++w) out[scalar.word + w] = number.words[static_cast<std::size_t>(w)];
        }
        for (const RealWord& real : reals) {
            const ScalarWords number = scalar_words(Scalar(real.value.in(values)).cast(real.own).cast(real.dtype));
            for (int w = 0; w < number.count; ++w) out[real.word + w] = number.words[static_cast<std::size_t>(w)];
        }
        for (const Patch& patch : addresses) out[patch.word] = address(patch.value) + static_cast<std::uint64_t>(patch.bytes.in(values));
    }
    /// Nanoseconds of one core.
    double cost(std::span<const std::int64_t> values) const {
        return launch_cost(bytes_read.in(values) + bytes_written.in(values), elements.in(values), element_cost);
    }
};

/// The loops inside of a launch, as device::LaunchShape says them.
struct LoopShape {
    Number inner, innermost, remainder;
};
/// A call of a routine of the library: its arguments' fields (routines::Fields) by kind, each in order.
struct RoutineCall {
    std::uint32_t routine = 0;  // of the program's
    std::string place;          // the line of the call
    std::vector<std::uint64_t> choices;
    std::vector<Number> numbers;
    std::vector<Real> reals;
    std::vector<std::string> texts;
    std::vector<std::uint32_t> memories;  // values
    std::vector<Use> uses;
};

/// What is launched, and which routines are called before, for sizes for which the guards hold.
struct Alternative {
    Sizing sizing;
    std::vector<Number> scratch;  // bytes
    std::vector<RoutineCall> routines;
    std::vector<Launch> launches;
    std::vector<LoopShape> loops;  // of parts for devices: one a launch
};
/// A part of the program; one of the alternatives runs.
struct Step {
    std::vector<Alternative> alternatives;
};
/// An array over the memory of a value.
struct Output {
    std::uint32_t value = 0;
    Number offset;                       // elements
    std::vector<Number> shape, strides;  // elements
};

/// Small sizes, 0 and 1 at least, may have programs do something else: each has plans of its own.
struct SizeClass {
    bool exact = false;  // the size is `value`; else it is greater
    std::int64_t value = 0;
    bool has(std::int64_t size) const { return exact ? size == value : size > value; }
};
struct Regime {
    std::vector<SizeClass> sizes;
    std::string refused;        // what the function raised for such sizes; empty: the steps
    Sizing sizing;              // of slots and outputs
    std::vector<Number> slots;  // bytes
    std::vector<Step> steps;
    std::vector<Output> outputs;
    /// Of a file that has been read: all but the first two, until they are needed.
    std::vector<std::uint8_t> unread;
};

/// One extent of an argument: a size of the program, or fixed.
struct Extent {
    std::int32_t size = -1;
    std::int64_t fixed = 0;
};
struct Argument {
    std::string name;
    DType dtype{};
    std::vector<Extent> shape;
};
/// Memory that is part of the program, and what is in it.
struct Constant {
    std::vector<std::uint8_t> bytes;
};
/// A kernel, compiled for each target.
struct Code {
    std::string name;
    std::int32_t rank = 0, granularity = 1;  // granularity: the last dimension is cut between threads at multiples of it
    std::vector<std::int64_t> group_size;    // empty: no groups
    /// ELF objects, one a target; of a file that has been read empty: Loaded has them.
    std::vector<std::vector<std::uint8_t>> objects;
    std::vector<std::int64_t> traits;  // of parts for devices: emit::CTraits
};

/// A routine of the library, and what kinds of fields its arguments have.
struct Routine {
    std::string name, signature;
};

struct Program {
    std::string name, doc, made_by;  // made_by: "pardo 0.1.0"
    std::vector<Argument> arguments;
    std::int32_t sizes = 0;
    bool tuple = false;  // its result is a tuple, of `outputs` arrays
    std::vector<DType> outputs;
    std::vector<Constant> constants;
    std::vector<std::string> targets;  // "x86-64-v3"
    std::vector<Code> codes;
    std::vector<Routine> routines;
    std::vector<Regime> regimes;
    /// A shared library with the functions of vectors that objects call; empty: they call none.
    std::vector<std::uint8_t> math;

    /// "f(x: float32[n, 3], y: float32[n]) -> float64[n]".
    std::string signature() const;
    /// "matmul, sort".
    std::string routine_names() const;
};

/// A kernel as a driver takes it: text, or machine code of a device.
struct Image {
    std::uint32_t shape = 0;  // device::ShapeClass: how its items are laid over groups
    std::string entry, params;
    bool reversible = false, fast_math = false;
    std::int64_t shared_bytes = 0;
    std::uint32_t content = 0;  // among those of the form
    friend bool operator==(const Image&, const Image&) = default;
};
/// All kernels of a part for some devices of a target.
struct Form {
    std::string target, name;                // "opencl", "loops"; "sm_90", ""
    std::vector<std::vector<Image>> images;  // by kernel
    std::vector<std::uint64_t> lengths;      // of contents
    std::vector<std::uint8_t> packed;        // these, one after another: as the writer has packed them
};
/// The same program for devices: plans of its own, and its kernels in the forms that drivers take.
struct DevicePart {
    bool groups = false;  // of devices that run groups of items; else as loops of a processor
    Program program;      // its targets and the objects of its kernels are empty
    std::vector<Form> forms;
};

/// What runs for some sizes.
struct Resolved {
    struct Part {
        const Alternative* alternative;
        std::vector<std::int64_t> values;  // of its numbers
    };
    const Regime* regime = nullptr;
    std::vector<std::int64_t> values;  // of the regime's numbers
    std::vector<Part> parts;
    // By value: arguments, constants, slots.
    std::vector<bool> written;      // by a launch
    std::vector<std::size_t> last;  // the part that uses it last; of outputs the number of parts
};
/// The bytes of a file, and the digest that is in its header and its name.
std::vector<std::uint8_t> to_bytes(const Program& program, const std::vector<DevicePart>& parts, Hash128& digest);
inline std::vector<std::uint8_t> to_bytes(const Program& program, Hash128& digest) { return to_bytes(program, {}, digest); }

/// A program of a file, with what this machine needs of it.
class Loaded {
public:
    /// Reads and checks a file. Throws Value where it cannot be read, is no program, damaged, of another major version, or for other
    /// processors. `with_math`: for a process that has no more than this layer: the library of Program::math is read too, and parts for
    /// devices do not help.
    static std::unique_ptr<Loaded> read(const std::string& path, bool with_math);
    /// The same of a file's bytes.
    static std::unique_ptr<Loaded> from_bytes(std::span<const std::uint8_t> bytes, const std::string& path, bool with_math);

    /// Guards what programs have loaded so far, of all of them: a child of fork makes it anew.
    static std::mutex& mutex();

    const Program& program() const { return program_; }
    /// Empty where the file has parts for devices alone, or none for this processor.
    const std::string& target() const { return target_; }
    /// All targets, those of devices last.
    std::vector<std::string> targets() const;
    /// The machine code of a kernel.
    std::span<const std::uint8_t> object(std::size_t code) const;
    /// What runs for some sizes. Throws Value where there is nothing for them, or the function refuses them. Safe from any thread.
    Resolved resolve(const std::vector<std::int64_t>& sizes) const;

    /// The part for devices of a kind, null if there is none; its code is in forms, of which contents and images are read when they are
    /// asked for. Throws Value where they are damaged.
    const Loaded* part(bool groups) const;
    const std::vector<Form>& forms() const { return forms_; }
    Form read_form(std::size_t form) const;

    /// Where a file's bytes come from.
    class Source {
    public:
        virtual ~Source() = default;
        virtual std::uint64_t size() const = 0;
        virtual bool read(std::uint64_t offset, void* to, std::size_t count) const = 0;
    };

private:
    struct Object {
        std::uint64_t offset, bytes;
    };
    /// What the file is made of, for what is read later.
    struct Sections;
    static std::unique_ptr<Loaded> read_from(std::unique_ptr<Source> source, const std::string& path, bool with_math);
    void read_parts(const std::shared_ptr<const Sections>& sections);
    const Regime& whole(std::size_t regime) const;
    Program program_;
    std::string target_;
    std::vector<std::uint8_t> code_;  // of the target
    std::vector<Object> objects_;     // of objects in it
    std::vector<std::unique_ptr<Loaded>> parts_;
    // Of a part.
    bool is_part_ = false, groups_ = false;
    std::size_t number_ = 0;
    std::vector<Form> forms_;
    std::shared_ptr<const Sections> sections_;
};
/// True of a file that begins as programs do.
bool is_program(const std::string& path);

/// The sizes of a call, from the shapes of its arguments; throws Value where they are none of the program's.
struct Shape {
    const std::int64_t* extents = nullptr;
    int rank = 0;
};
std::vector<std::int64_t> sizes_of(const Program& program, const std::vector<Shape>& shapes);
}  // namespace pardo::saved
