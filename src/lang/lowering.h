// src/lang/lowering.h: the state of lowering one function, which the files of this folder share.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "ir/builder.h"
#include "lang/lower.h"
#include "lang/problem.h"
#include "lang/scope.h"

namespace pardo::lang {

using ir::Opcode;
using ir::Value;

/// Names that a program cannot have: flags of what was left early, and what a function gives, which counts where it has returned.
inline constexpr const char *break_flag = "$break", *continue_flag = "$continue", *return_flag = "$return", *result_name = "$value";
inline Term flag(bool set) { return number(Scalar(set)); }
/// "1 argument", "2 to 3 arguments".
std::string count_text(int least, int most);

/// Lowers by two walks: a dry one that finds types (values are no_value) and how arguments are used, then the one that builds. Inside,
/// branches and loops are walked dry before they are built, so that what joins has one type.
class Lowering {
public:
    Lowering(std::shared_ptr<const Function> function, bool takes_item, const Space& space, const std::vector<ArgumentType>& arguments,
             const Options& options, const LoopSpec* loop = nullptr);
    Lowered run();
    Term returned();
    /// Names that a statement assigns, and those inside of it.
    static void collect_targets(const Tree& t, std::set<std::string>& names);

private:
    friend struct Calls;

    // lower.cpp
    void walk_function();
    static int builder_rank(const Space& space, const LoopSpec* loop);
    void declare_arguments();
    Term declare(std::size_t& k, const std::string& name);
    Term array_argument(int k, const std::string& name);
    [[noreturn]] void fail(ErrorCode code, const Place& place, const std::string& message) const;
    [[noreturn]] void wrong_type(const Place& place, const std::string& message) const { fail(ErrorCode::Type, place, message); }

    // loops/parallel_loops.cpp
    void walk_loop();
    void walk_rounds();
    void walk_reduction();
    Term identity(ir::Combine combine, const Term& like);
    void walk_serial();
    const Tree& loop_at(int depth) const;  // of those that stand in each other
    Term round_index(int d, const Term& round);

    // loops/lanes.cpp
    /// True for a loop in an item whose rounds write neighbours and share nothing: it becomes the lanes, and items are scalar code.
    /// `why`: what keeps it from that.
    bool makes_lanes(const Tree& t, const Term& start, const Term& stop, const Term& step, const std::function<void(const Term&)>& body,
                     std::string& why);
    std::int64_t least_at(const Tree& place, const std::string& index, const Term& start);
    void choose_lanes(const Tree& t, const Term& start, const Term& stop, const Term& step, const std::function<void(const Term&)>& body);

    // statements.cpp
    void block(const std::vector<Tree>& statements, std::size_t from = 0);
    void statement(const Tree& t);
    void assign(const Tree& target, const Term& value, const Place& place);
    void set_variable(const std::string& name, Term term, const Place& place);
    void record_parameters();
    void record_type(const std::string& name, const Term& term, const Place& place);
    void augment(const Tree& t);
    void branch(const Term& test, const Place& place, const std::function<void()>& then_part, const std::function<void()>& else_part);
    bool if_statement(const Tree& t, const std::vector<Tree>& rest, std::size_t from);  // true: the rest is done too
    bool escapes() const;  // a flag may be set: what follows runs only if none is
    Term alive();
    void go_on(const Place& place, const std::function<void()>& rest);
    static bool never_falls(const std::vector<Tree>& statements);
    static bool contains(const Tree& t, Form form, bool through_loops);
    void learn(const Tree& test, bool truth);      // what a test says about the least values of names, and which of two is greater
    std::int64_t difference(const Tree& t) const;  // the least value of one name minus another, as far as tests have said
    Term joined(const std::string& name, const Variable& a, const Variable& b, const Place& place) const;
    void flatten(const Term& t, const Term& like, std::vector<Value>& out);
    Term rebuilt(const Term& like, std::span<const Value> values, std::size_t& at) const;
    /// Whether a conversion to `to` leaves an integer at or above what it is never below.
    bool holds_least(const Term& t, DType to);
    Term fluid(const Term& t) const;      // the type of a value that is no longer known now
    Term unbounded(const Term& t) const;  // fluid, and its least value is forgotten too
    static Term blank(const Term& like);  // a value of this type that nobody reads
    static bool same_type(const Term& a, const Term& b);
    /// The numbers of a value, those of a tuple in their order; `layout` gets how they belong together.
    static void numbers_of(const Term& t, std::vector<Term>& out, std::vector<ArgumentType>& layout);

    // loops/serial_loops.cpp
    void for_range(const Tree& t);
    struct Walked;
    Walked walked(const Tree& t);
    Walked walked_zip(const Tree& t);
    Walked walked_value(const Tree& t);
    void for_each(const Tree& t);
    void while_statement(const Tree& t);
    /// What a loop changes and carries from one round to the next, with the types that hold in every round.
    struct Carried {
        std::vector<std::string> names;
        std::vector<Term> likes;
        Scope before, after;  // after: a dry round's end
    };
    Carried carried_by(const std::vector<const Tree*>& parts, const std::vector<std::string>& hidden, const std::function<void()>& round);
    void bind(const Carried& c, std::span<const Value> values);
    void collect(const Carried& c, std::vector<Value>& out);
    void leave_loop(const Carried& c, std::span<const Value> results);
    void counted_loop(const Tree& t, const Term& start, const Term& stop, const Term& step, const std::function<void(const Term&)>& body);
    bool is_grid_stride(Value lower, const Term& step);
    void together(Value upper, const std::function<void(Value)>& body);
    void general_loop(const Tree& t, const std::vector<const Tree*>& parts, const std::vector<std::string>& hidden,
                      const std::function<Term()>& test, const std::function<void()>& body, bool forever = false);
    void ranged(const Tree& t, const Term& start, const Term& stop, const Term& step, const Tree& body, const Tree* otherwise,
                const std::function<void(const Term&)>& begin);
    void unrolled(const Tree& t, const std::vector<Term>& items, std::size_t k);
    void after_loop(const Tree* otherwise, const Variable& outer_break, const Variable& outer_continue);

    // failures.cpp
    void assertion(const Tree& t);
    void log(const std::string& format, std::span<const Term> values, const Place& place);
    void fail_when(const Term& bad, ErrorCode code, const std::string& message, const Place& place, std::vector<Term> values);
    void report(ErrorCode code, const std::string& message, const Place& place, std::span<const Value> values,
                const std::shared_ptr<const Function>& function);
    void report_guards(const View& v);

    // checks.cpp
    void check_operands(Opcode op, const Term& a, const Term& b, DType computed, const Place& place);
    void guard_range(const Term& start, Term& stop, const Term& step, const Place& place);
    void track_writes(const View& v, std::int64_t count, ir::Space space);
    void mark_written(const View& v, Value place);
    void check_written(const View& v, Value place);

    // integers.cpp
    bool exact_integers() const;
    void bound(Term& result, Opcode op, const Term& a, const Term& b, const Place& place, bool wraps);
    Value overflows(Opcode op, Value x, Value y, Value result);
    bool checks_range(const Term& t, DType to) const;
    void keep_large(const Term& result, Opcode op, const Term& a, const Term& b, const Place& place);
    void narrowed(const Term& t, DType to);
    Term whole_to_int(const Term& x, const Place& place, const std::string& who);
    Term to_int(const Term& x, const Place& place);
    Term binary_of(const Tree& t, bool wraps);
    Term index_expression(const Tree& t);

    // expressions.cpp
    Term expression(const Tree& t);
    Term name(const Tree& t);
    Term unary(const Tree& t, bool wraps);
    Term unary_of(const std::string& op, const Term& x, const Place& place, bool wraps = false);
    Term binary(const std::string& op, const Term& a, const Term& b, const Place& place);
    Term arithmetic(Opcode op, const Term& a, const Term& b, NumberType type, const Place& place);
    std::optional<Term> exact(Opcode op, const Term& a, const Term& b, const Place& place) const;
    void check_range(const Term& t, DType to, const Place& place) const;
    Term power(const Term& a, const Term& b, const Place& place);
    Term attribute(const Tree& t);
    Term attribute_of(const Term& object, const Tree& t);
    NumberType promoted(const Term& a, const Term& b, const Place& place) const;
    Term folded(Opcode op, ir::Math fn, NumberType type, std::span<const Term> operands) const;
    Term pure(Opcode op, NumberType type, std::initializer_list<Term> operands, DType operand_dtype);
    Term math(ir::Math fn, std::span<const Term> operands, const Place& place);
    Term cast(const Term& t, NumberType to);
    Value value(const Term& t);            // in its own dtype
    Value value(const Term& t, DType to);  // converted
    DType dtype(NumberType type) const { return type.weak ? weak_dtype(type.dtype, options_.fp64) : type.dtype; }
    const Term& need_number(const Term& t, const Place& place, const char* who) const;
    Term index_arithmetic(Opcode op, const Term& a, const Term& b);
    Term add(const Term& a, const Term& b) { return index_arithmetic(Opcode::Add, a, b); }
    Term sub(const Term& a, const Term& b) { return index_arithmetic(Opcode::Sub, a, b); }
    Term mul(const Term& a, const Term& b) { return index_arithmetic(Opcode::Mul, a, b); }

    // conditions.cpp
    Term truth(const Term& t, const Place& place);
    static std::vector<std::string> operators_of(const Tree& t);
    Term compare(const Tree& t, std::size_t from, const Term& left);
    Term compared(const std::string& op, const Term& a, const Term& b, const Place& place);
    Term compared_signs(const std::string& op, Opcode opcode, const Term& a, const Term& b);
    Term compared_tuples(const std::string& op, const Term& a, const Term& b, std::size_t from, const Place& place);
    Term selected(const Term& test, const Variable& x, const Variable& y, const Place& place);
    /// What an `if` asks: numbers are true if they are not zero.
    Term condition(const Tree& t);
    Term logical(const Tree& t, std::size_t from, bool strict);
    Term choice(const Tree& t);
    Term chosen(const Term& test, const Tree& yes, const std::function<Term()>& then_part, const std::function<Term()>& else_part,
                const Place& place);
    static bool simple(const Tree& t);  // cheap, without memory or calls: may run although nobody needs it

    // arrays.cpp
    Term subscript(const Tree& t);
    Term part_of(const Term& tuple, const Tree& t);
    std::size_t field_at(const Term& object, const Tree& t);
    Term field(const Term& object, std::size_t k);
    Term loaded(const Term& t);
    std::vector<Term> indices_of(const Tree& t);
    Term indexed(const Term& object, std::span<const Term> indices, const Tree& t);
    View viewed(const View& v, std::span<const Term> indices, const Tree& t);
    Term index_of(const Term& index, const Term& extent, const Place& place, std::vector<Guard>& guards);
    Value wrapped(Value i, Value extent);
    Value guard_of(const View& v);
    /// Does `access` where the view's indices are in range, and reports those that are not; `otherwise`: what it gives there.
    ir::Builder::Values guarded(const View& v, const std::function<ir::Builder::Values()>& access, ir::Builder::Values otherwise);
    Term element(const View& v);
    View part_at(const View& v, const Term& i);
    void store(const Tree& target, const Term& value, const Place& place);
    void store_into(const Term& place, const Term& value, const Tree& target, const Place& at);
    bool is_field(const Term& object, const Tree& target) const;
    void store_at(const Term& object, std::span<const Term> indices, const Tree& target, const Term& value, const Place& place);
    void store_element(const View& v, const Term& value, const Place& place);
    void store_view(const View& v, const Term& value, const Place& place);
    void each_index(const Term& extent, const std::function<void(const Term&)>& body);
    Term own_array(ir::Space space, const std::string& name, DType dtype, const std::vector<std::int64_t>& extents, const Place& place);
    /// One whose elements have no values yet.
    Term unwritten_array(ir::Space space, const std::string& name, DType dtype, const std::vector<std::int64_t>& extents,
                         const Place& place);
    void note_access(const View& v, ir::Access access);
    std::vector<std::int64_t> constant_extents(const Term& t, const Place& place, const char* who) const;

    // calls/calls.cpp
    Tree ordered(const Tree& t, std::size_t from, const char* names, std::initializer_list<const char*> kept) const;
    Term call(const Tree& t);
    Term method(const Tree& t);

    // calls/functions.cpp
    Term apply(const Tree& t);
    Term called(const std::shared_ptr<const Function>& callee, const Term* self, std::span<const Tree> arguments, const Place& place);
    Term starred(const Tree& t);
    Term inlined(std::shared_ptr<const Function> callee, Scope given, const Place& place);

    // calls/structs.cpp
    Term as_field(const Term& given, DType to, const std::string& name, const Place& place);
    Term structure(const Tree& t, const std::vector<Term>& a);
    Term replaced(const Tree& t, const std::vector<Term>& a);
    std::optional<syntax::Member> member_of(const Term& object, const std::string& name) const;
    std::shared_ptr<const Function> function_of(const syntax::Member& member) const;
    std::optional<Term> by_method(const std::string& name, const Term& object, std::initializer_list<Term> arguments, const Place& place);
    std::optional<Term> by_operator(const Term& a, const Term& b, const std::string& op, bool in_place, const Place& place);
    std::optional<Term> by_comparison(const std::string& op, const Term& a, const Term& b, const Place& place);

    bool dry() const { return dry_; }

    std::shared_ptr<const Function> function_;  // being walked
    /// Where the user's code calls the library's, while that is walked.
    struct Entry {
        std::shared_ptr<const Function> caller;
        Place place;
        std::string called;
    } entry_;
    const bool takes_item_;
    const Space& space_;
    const std::vector<ArgumentType>& types_;
    const Options options_;
    const LoopSpec* const loop_;
    std::set<std::string> own_;  // names that each round of a parallel loop has for itself, and that had values before it
    std::set<const Tree*> lane_loops_;
    bool choosing_lanes_ = false;                  // in the first walk
    bool in_lanes_ = false;                        // one of them is around
    std::map<const Tree*, std::string> no_lanes_;  // loops that are none of them, and why; empty: not to be told
    Place at_;                                     // of the statement that is walked
    struct Around {
        const Tree* loop;
        std::size_t calls;  // functions under way there
    };
    std::vector<Around> around_;  // loops
    ir::Builder builder_;
    Lowered out_;
    Scope scope_;
    std::vector<Term> arguments_;
    std::vector<const Function*> stack_;  // functions under way: none may come twice
    Value round_ = ir::no_value;          // of a loop that reduces
    Value status_ = ir::no_value, log_ = ir::no_value, log_real_ = ir::no_value;
    bool dry_ = true, uses_status_ = false, uses_log_ = false;
    std::map<Value, Value> written_;  // arrays of groups and items whose reads are checked, and their flags
    std::vector<Value> group_flags_;  // those of groups
    bool wraps_ = false;              // of the operation that is walked next, only the low bits are asked for
    int versions_ = 0, arrays_ = 0, loops_ = 0, operands_ = 0;
    int inner_loops_ = 0;  // that have been walked, but short ones of known length
};

/// Lowers a function; without lanes loops where threads that share them would have to wait for each other.
Lowered lowered(const std::shared_ptr<const Function>& function, bool takes_item, const Space& space,
                const std::vector<ArgumentType>& arguments, const Options& options, const LoopSpec* loop);

}  // namespace pardo::lang
