// src/lang/lower.h: a function and the types of its arguments -> Kernel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "lang/outside.h"
#include "lang/problem.h"
#include "lang/typed_expr.h"

namespace pardo::lang {

/// What an argument of a launch is, as far as the program depends on it. A tuple is followed by its parts, in the same list.
struct ArgumentType {
    enum class Kind : std::uint8_t {
        Array,     // dtype, rank, contiguous
        Number,    // dtype, weak
        Constant,  // `scalar`: part of the program
        Shared,    // memory of the group: dtype, extents
        Tuple,     // `parts`, `names`
        Function,  // `function`, or `name`
        None,
    };
    Kind kind = Kind::Number;
    DType dtype = DType::Float64;
    bool weak = false;                  // Number
    bool assumed = false;               // Number, Array: a Python integer, or extents, of fewer than 32 bits; the launch checks
    int rank = 0;                       // Array
    bool contiguous = false;            // Array: row-major; else its strides are arguments
    std::int64_t last = 0;              // Array: the last extent, where it is part of the program: loops over it are unrolled; else 0
    Scalar scalar;                      // Constant
    std::vector<std::int64_t> extents;  // Shared
    std::size_t parts = 0;              // Tuple
    std::vector<std::string> names;     // Tuple: a struct's fields
    bool columns = false;               // Tuple: of arrays, indexed as one
    int records = 0;                    // Tuple: dimensions of an array of NumPy's records
    std::shared_ptr<const syntax::Class> structure;           // Tuple: a struct's class, if it has one
    std::shared_ptr<const syntax::Class::Members> members{};  // Tuple: those that the class had then
    std::shared_ptr<const Function> function;
    std::string name;                    // Function that the language knows
    std::optional<ir::Access> asserted;  // Array: what the user says that the function does with it; no part of the type
    friend bool operator==(const ArgumentType&, const ArgumentType&);
};

/// The index space: `rank` dimensions of items; in groups if `group_size` has a size for each, and these in sub-groups.
struct Space {
    int rank = 1;
    std::vector<std::int64_t> group_size;
    int sub_group = 0;
    friend bool operator==(const Space&, const Space&) = default;
};

/// Of Python integers and extents that are small, as most are: programs of serial loops are made for these, and others for any.
inline constexpr int assumed_bits = 31;

struct Options {
    bool fp64 = true;               // the device has it: Python's floats are float64
    bool distinct = true;           // no two arrays share memory
    std::uint8_t fast_math = 0;     // as of ir::Kernel
    bool bounds_check = false;      // an index out of range is reported
    bool check_all = false;         // and division by zero, shifts by too much, reads of own memory that nothing has written
    bool record_types = false;      // `Lowered::types` is wanted
    bool truncates = false;         // arrays of integers take floats, without their fractions
    bool library_products = false;  // of two matrices in serial loops: a library multiplies these, which are large
    bool lane_blocks = false;       // blocks of tuples are reduced in parallel in lanes: pays where pardo makes the vectors itself
    bool lane_loops = true;         // loops in an item may become the lanes
    /// Bytes for each array of an item whose size is known when the kernel runs; 0: as many as it takes.
    std::int64_t own_bytes = 0;
    bool small_outside = false;  // Python integers from outside have fewer than 32 bits; the launch checks
    bool threads = false;        // loops over elements in what is serial itself may be shared by threads
    bool teams = false;          // several threads share a lanes loop, and do not wait for each other after it
    friend bool operator==(const Options&, const Options&) = default;
};

/// Where a parameter of the kernel comes from.
struct Slot {
    enum class Kind : std::uint8_t {
        Pointer,
        Extent,
        Stride,
        Number,
        Status,
        Log,      // what the kernel prints, as int64
        LogReal,  // the same memory as floats
        Count,    // of a loop: its iterations
        Block,    // iterations of one item of a loop that reduces
        Result,   // memory for one element an item: `argument` says which result
    };
    Kind kind = Kind::Number;
    int argument = 0, dimension = 0;
};

/// A place that may fail while the kernel runs; the status block names it by its number.
struct Site {
    ErrorCode code = ErrorCode::Index;
    std::string message;  // $0, $1, $2: values that the kernel writes; $u0, …: of uint64
    Place place;
    std::shared_ptr<const Function> function;
};

/// A Python integer that is an argument and has to fit a dtype; the launch checks.
struct Fit {
    int argument = 0;
    DType dtype = DType::Int64;
    Place place;
    std::shared_ptr<const Function> function;
};

/// A print: its text with `{}` for each value, and what the values are.
struct Print {
    std::string format;
    std::vector<ArgumentType> layout;
};

/// A number that a loop leaves in a name, or in a part of the tuple that a name stands for.
struct Result {
    NumberType type;
    ir::Combine combine = ir::Combine::Add;
    std::size_t parts = 0;  // of a tuple that begins here: how many numbers it has
    bool inside = false;    // a further number of a tuple
};

/// The type that a name is given at a line.
struct Typed {
    std::shared_ptr<const Function> function;
    int line = 0;
    std::string name, type;
};

/// A loop that might have become the lanes, and why it has not.
struct NoLanes {
    int line = 0;
    std::string why;
};

/// A list of Python's that serial statements change or read: an argument, an array of its elements, under its name. What it is in the end
/// goes into the argument `given_lists` (int64): for each list the address of its elements, how many there are, and their type.
struct GivenList {
    std::string name;
    bool filled = false;  // else it starts empty, and takes any type
    bool weak = true;     // its elements are Python's numbers
    bool changes = true;  // what it is in the end is asked for
    bool grows = false;   // it only grows: its first elements are not given back, and may be numbers of Python where the new ones are not
    syntax::Tree made{};  // stands for where it was made
};
inline constexpr const char* given_lists = "$lists";

/// What of a function's body is run: all of it, once; or one loop over independent iterations, which is its only statement.
struct LoopSpec {
    bool parallel = false;
    int dimensions = 1;                // parallel: directly nested loops that form one index space
    std::vector<std::string> results;  // names whose values are asked for: of a parallel loop, its reductions
    std::vector<GivenList> lists{};    // of serial statements
};

struct Lowered {
    ir::Kernel kernel;
    std::vector<Slot> slots;             // one for each of the kernel's parameters
    std::vector<ir::Access> accesses;    // one for each argument; of arrays that are not used: Read
    std::vector<bool> used;              // one for each argument: arrays that the kernel touches
    std::vector<bool> own_elements;      // one for each argument: each item stores the element at its own place in the index space
    std::vector<OutsideNumber> outside;  // numbers that are arguments too, behind the others
    std::vector<Fit> fits;
    std::vector<Site> sites;           // places that may fail
    bool reads_status = false;         // a loop ends where something has failed
    int asked = 0;                     // dimensions of the index space that the function asks for, counted from the first; 0: none
    std::vector<Print> prints;         // empty: the kernel has no log
    std::vector<Result> results;       // of a loop
    std::vector<ArgumentType> layout;  // of those results: tuples and their parts
    std::vector<Typed> types;          // in the order of the program
    std::vector<NoLanes> no_lanes;
    static constexpr int status_words = 8;  // int64: the site's number + 1, three values, the item's three indices
    /// The log begins with the number of words asked for so far; then for each print: its number + 1, the item, and the values.
    static constexpr int log_words = 1 << 17;
};

/// Reductions of a parallel loop: names that its iterations only add to, multiply, or take the least or greatest of. Throws for elements
/// that two iterations may change; `scattered`, if there is one, gets the arrays of which some are, and that are reduced into and not read.
std::vector<std::string> reductions_of(const Function& function, const Tree& loop, const std::vector<std::string>& outside,
                                       std::vector<std::string>* scattered = nullptr);

/// What of numbers from outside is part of a program, and those that were met on the way, which tells them after a failure too.
struct OutsideUse {
    FixedNumbers fixed;
    std::vector<OutsideNumber> met;
};

/// As lower, for a loop or a serial part of a function. The last parameters are, for each dimension of a parallel loop, start and step.
Lowered lower_loop(const std::shared_ptr<const Function>& function, const LoopSpec& spec, const std::vector<ArgumentType>& arguments,
                   const Options& options, OutsideUse* outside = nullptr);

/// What `function` gives when a kernel calls it with these: a number or a tuple, without values.
TypedExpr returned(const std::shared_ptr<const Function>& function, const std::vector<ArgumentType>& arguments, const Options& options);

/// Types and lowers `function`, whose first parameter is the item if `takes_item`. Throws what is wrong with the program.
Lowered lower(const std::shared_ptr<const Function>& function, bool takes_item, const Space& space,
              const std::vector<ArgumentType>& arguments, const Options& options, OutsideUse* outside = nullptr);

}  // namespace pardo::lang
