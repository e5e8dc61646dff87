// include/pardo/binding/kernel.h: functions of the user that run once for each item of an index space.
// For pardo's own bindings: no stability.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <pardo/array.h>
#include <pardo/binding/syntax.h>
#include <pardo/event.h>
#include <pardo/export.h>
#include <pardo/kernel.h>
#include <pardo/queue.h>

namespace pardo {

/// One argument of a launch. A tuple is followed by its parts, in the same list.
struct KernelArgument {
    enum class Kind : std::uint8_t {
        Array,
        Number,    // `scalar`; weak: a number of Python
        Constant,  // `scalar`, which becomes part of the program
        Local,     // memory that the items of a group share: `dtype`, `extents`
        Tuple,     // of `parts`; a struct if it has `names`
        Function,  // `function`, or one that the language knows by its `name`
        None,      // Python's, a field of a struct
    };
    Kind kind = Kind::Number;
    Array array;
    Scalar scalar;
    DType dtype = DType::Float64;
    std::vector<std::int64_t> extents;
    std::size_t parts = 0;
    std::vector<std::string> names;
    bool columns = false;  // a tuple of arrays that is indexed as one array
    int records = 0;       // dimensions, if it is an array of NumPy's records: its elements are views; -1: a tuple with names
    std::shared_ptr<const syntax::Class> structure;           // of a struct, if it has one
    std::shared_ptr<const syntax::Class::Members> members{};  // those that the class has now
    std::shared_ptr<const syntax::Function> function;
    std::string name;

    KernelArgument() noexcept {}  // NOLINT(modernize-use-equals-default): `= default` fills all of it with zeros before
};

/// What a program checks where it runs; a failure is raised by the next wait.
enum class Checks : std::uint8_t {
    None,
    Indices,  // of arrays, of memory of a group and of an item: IndexError
    All,  // and that integers are not divided by zero nor shifted too far, and that what a group or item reads of its memory was written
};

struct KernelOptions {
    /// 1: sums may be reordered, products and sums contracted; 2: and reciprocals of float32 roots may be a processor's estimates.
    std::uint8_t fast_math = 0;
    Checks checks = Checks::None;
    int sub_group_size = 32;  // a power of two
    /// One for each parameter but the item, or empty: what the user says that the function does with it; None: nothing is said. A program
    /// that does something else is refused with Type.
    std::vector<ArgumentUse> access{};
    /// Loops that are not parallel: products of two matrices are refused, as the arrays are large, and a library is faster.
    bool library_products = false;
    /// Arrays of integers take floats without their fractions; else that is refused.
    bool truncates = false;
};

/// A function, and its programs for the types it has been called with; a cheap handle, safe from any thread.
class PARDO_API Kernel {
public:
    /// `takes_item`: the first parameter is the item, and no argument.
    Kernel(std::shared_ptr<const syntax::Function> function, bool takes_item, const KernelOptions& options);
    ~Kernel();
    Kernel(const Kernel&);
    Kernel& operator=(const Kernel&);

    /// Types, compiles where that is new, and launches on `queue` (null: that of the arrays). Throws what is wrong with the function or the
    /// call, with the user's line; what fails later is raised by the next wait.
    Event launch(std::span<const KernelArgument> arguments, const NdRange& range, const Queue* queue = nullptr,
                 std::span<const Event> depends = {}) const;
    /// "ir", or what the device can show: "llvm", "asm", "opencl", "cuda", "ptx".
    std::string inspect(std::span<const KernelArgument> arguments, const NdRange& range, const std::string& what,
                        const Queue* queue = nullptr) const;
    /// The same of each program made so far.
    std::string inspect(const std::string& what) const;
    /// The function's text, and next to each line the types of the names that are assigned there: for a call, or for each program made so
    /// far.
    std::string types(std::span<const KernelArgument> arguments, const NdRange& range, const Queue* queue = nullptr) const;
    std::string types() const;
    /// For each program made so far, what of it runs in parallel, and what keeps the rest from it.
    std::string diagnostics() const;
    /// How the function uses each of its arguments, parts of tuples among them; only arrays are used.
    std::vector<ArgumentUse> uses(std::span<const KernelArgument> arguments, const NdRange& range, const Queue* queue = nullptr) const;
    /// Programs made so far.
    std::size_t specialisations() const;
    /// Names of the arguments.
    std::span<const std::string> parameters() const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

/// What a function called in a kernel gives for arguments like these: a number, or a tuple and its parts; of numbers the dtype counts.
PARDO_API std::vector<KernelArgument> returned_by(const std::shared_ptr<const syntax::Function>& function,
                                                  std::span<const KernelArgument> arguments, const Queue* queue = nullptr);

/// Called for each print of a kernel after it has run, from any thread: a text with `{}` for each value, and the values. What is printed
/// before this is set is lost.
using Printer = std::function<void(const std::string& format, std::span<const KernelArgument> values)>;
PARDO_API void set_printer(Printer printer);
/// Blocks until kernels that print and have been submitted have printed; not for those that a UserEvent holds up. Raises an interruption,
/// no failure. For the end of a program.
PARDO_API void finish_prints();

/// A list of Python's that serial statements use under a name: the argument is an array of its elements. If they change it, an argument
/// "$lists" (int64) gets for each such list the address of the elements, which the caller frees, their number, and twice the number of
/// their dtype, one more for Python's numbers.
struct ListArgument {
    std::string name;
    bool filled = false;  // else it starts empty, and takes any type
    bool weak = true;     // its elements are Python's numbers
    bool changes = true;
    bool grows = false;  // it is read and appended to only; what it holds at first is not put back
};

/// A part of a function that runs by itself: a parallel loop, or serial statements. Its results are values of names.
class PARDO_API Loop {
public:
    /// A loop of `dimensions` directly nested parallel ones is the function's only statement; with 0 all its statements
    /// run once. `results`: of a parallel loop its reductions, else names whose values are asked for. The last parameters of a parallel one
    /// are start and step of each dimension.
    Loop(std::shared_ptr<const syntax::Function> function, int dimensions, std::vector<std::string> results, const KernelOptions& options,
         std::span<const ListArgument> lists = {});
    ~Loop();
    Loop(const Loop&);
    Loop& operator=(const Loop&);

    /// Which of the names that are known before a parallel loop it reduces into. Throws Type where two iterations may change one element.
    /// `scattered` gets arrays that iterations reduce into at computed places, and do not read.
    static std::vector<std::string> reductions(const syntax::Function& function, const std::vector<std::string>& outside,
                                               std::vector<std::string>* scattered = nullptr);
    /// Whether a function, or one that it calls, draws random numbers: then its parameter "$key" is a pair of words, others in each run.
    static bool draws(const syntax::Function& function);
    /// A thread that is done with its iterations takes work of others: as many iterations at a time as pays.
    static constexpr std::int64_t automatic_chunk = -1;
    /// Runs `counts` iterations in each dimension, and waits if there are results: for each name a number, or a tuple and its parts.
    /// `initial`: what the reductions start with, the numbers of tuples one after the other. `chunk`: iterations of the first dimension
    /// that a thread of a CPU takes at a time, or 0: each has its equal share. `late` gets the event of a loop without results that cannot
    /// fail, which is not waited for then, even if memory of the host is written: the caller waits before its memory may be read.
    /// `refused`: gets why there can be no program for these arguments, instead of an exception.
    std::vector<KernelArgument> run(std::span<const KernelArgument> arguments, std::span<const std::int64_t> counts,
                                    std::span<const Scalar> initial, const Queue* queue = nullptr, std::int64_t chunk = 0,
                                    Event* late = nullptr, std::optional<std::string>* refused = nullptr) const;
    /// Why there can be no program for these arguments; nothing if there is one. Throws what has nothing to do with the language.
    std::optional<std::string> refusal(std::span<const KernelArgument> arguments, const Queue* queue = nullptr) const;
    /// What the program for these arguments does with each, those of tuples one after the other.
    std::vector<ArgumentUse> uses(std::span<const KernelArgument> arguments, std::span<const std::int64_t> counts) const;
    /// As of a Kernel.
    std::span<const std::string> parameters() const;
    std::string inspect(const std::string& what) const;
    std::string types() const;
    std::string diagnostics() const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace pardo
