// src/lang/lowering.h: the state of lowering one function, which the files of this folder share.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "ir/builder.h"
#include "lang/array_expr/array_expr.h"
#include "lang/host_memory.h"
#include "lang/loops/lane_choice.h"
#include "lang/lower.h"
#include "lang/names.h"
#include "lang/outside_numbers.h"
#include "lang/problem.h"
#include "lang/scope.h"
#include "lang/scope_facts.h"
#include "lang/syntax_facts.h"
#include "lang/typing/joins.h"
#include "lang/typing/numbers.h"
#include "lang/walk.h"

namespace pardo::lang {

using ir::Opcode;
using ir::Value;

/// A bool that is known now.
inline TypedExpr flag(bool set) { return number(Scalar(set)); }
/// "1 argument", "2 to 3 arguments".
std::string count_text(int least, int most);

/// What is made of an array's elements. PlainSum: Python's own, which keeps their dtype.
enum class RowReduction : std::uint8_t { Sum, PlainSum, Prod, Mean, Var, Std, Min, Max, ArgMin, ArgMax, Any, All, CountNonzero, Norm };
struct RowFold {
    RowReduction op;
    Place place;
    std::string name;
    std::optional<DType> dtype;  // that the user asks for
    TypedExpr ddof;
};

/// Lowers by two walks: one for types, which finds how arguments are used too, then the one that builds. Inside, branches and loops are
/// walked for types before they are built, so that what joins has one type.
class Lowering {
public:
    Lowering(std::shared_ptr<const Function> function, bool takes_item, const Space& space, const std::vector<ArgumentType>& arguments,
             const Options& options, const LoopSpec* loop = nullptr, OutsideUse* outside = nullptr);
    Lowered run();
    TypedExpr returned();

private:
    friend struct Calls;

    // lower.cpp
    void walk_function();
    static int builder_rank(const Space& space, const LoopSpec* loop);
    void declare_arguments();
    TypedExpr declare(std::size_t& k, const std::string& name);
    TypedExpr array_argument(int k, const std::string& name);
    [[noreturn]] void fail(ErrorCode code, const Place& place, const std::string& message) const { source_.fail(code, place, message); }
    [[noreturn]] void wrong_type(const Place& place, const std::string& message) const { source_.wrong_type(place, message); }

    // loops/parallel_loops.cpp
    void walk_loop();
    void walk_rounds();
    void walk_reduction();
    TypedExpr identity(ir::Combine combine, const TypedExpr& like);
    void walk_serial();
    const Tree& loop_at(int depth) const;  // of nested ones
    TypedExpr iteration_index(int d, const TypedExpr& iteration);

    // loops/shared_rounds.cpp
    struct Reduced {
        std::string name;
        ir::Combine combine;
        Variable before;
        TypedExpr like;
    };
    std::vector<Reduced> reduced_by(const Tree& t, const std::set<std::string>& assigned) const;
    Value rounds_of(const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step);
    bool shared_rounds(const Tree& t, const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step);

    // loops/lanes.cpp
    /// True for a loop in an item whose iterations write neighbours and share nothing: it becomes the lanes, and items are scalar code.
    /// `why`: what keeps it from that.
    bool makes_lanes(const Tree& t, const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step,
                     const std::function<void(const TypedExpr&)>& body, std::string& why);
    std::int64_t least_at(const Tree& place, const std::string& index, const TypedExpr& start);
    void choose_lanes(const Tree& t, const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step,
                      const std::function<void(const TypedExpr&)>& body);

    // statements.cpp
    void block(const std::vector<Tree>& statements, std::size_t from = 0);
    void statement(const Tree& t);
    void assign(const Tree& target, const TypedExpr& value, const Place& place);
    void set_variable(const std::string& name, TypedExpr expr, const Place& place);
    void record_parameters();
    void record_type(const std::string& name, const TypedExpr& expr, const Place& place);
    void augment(const Tree& t);
    void augment_gathered(const Tree& t, const TypedExpr& object, const std::vector<TypedExpr>& indices, int k);
    void branch(const TypedExpr& test, const Place& place, const std::function<void()>& then_part, const std::function<void()>& else_part);
    bool if_statement(const Tree& t, const std::vector<Tree>& rest, std::size_t from);  // true: the rest is done too
    bool escapes() const;  // a flag may be set: what follows runs only if none is
    TypedExpr alive();
    void go_on(const Place& place, const std::function<void()>& rest);
    void flatten(const TypedExpr& t, const TypedExpr& like, std::vector<Value>& out);
    TypedExpr rebuilt(const TypedExpr& like, std::span<const Value> values, std::size_t& at) const;

    // loops/serial_loops.cpp
    void for_range(const Tree& t);
    struct Walked;
    Walked walked(const Tree& t);
    Walked walked_zip(const Tree& t);
    void while_there_are(const Tree& t, const Walked& w);
    Walked walked_range(const Tree& t);
    Walked walked_indices(const Tree& t);
    Walked walked_value(const Tree& t);
    void for_each(const Tree& t);
    void while_statement(const Tree& t);
    /// What a loop changes and carries from one iteration to the next, with the types that hold in every iteration.
    struct Carried {
        std::vector<std::string> names;
        std::vector<TypedExpr> likes;
        Scope before, after;  // after: the end of an iteration that is walked for types
    };
    Carried carried_by(const std::vector<const Tree*>& parts, const std::vector<std::string>& hidden,
                       const std::function<void()>& iteration);
    void bind(const Carried& c, std::span<const Value> values);
    void collect(const Carried& c, std::vector<Value>& out);
    void leave_loop(const Carried& c, std::span<const Value> results);
    void counted_loop(const Tree& t, const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step,
                      const std::function<void(const TypedExpr&)>& body);
    bool is_grid_stride(Value lower, const TypedExpr& step);
    void together(Value upper, const std::function<void(Value)>& body);
    void general_loop(const Tree& t, const std::vector<const Tree*>& parts, const std::vector<std::string>& hidden,
                      const std::function<TypedExpr()>& test, const std::function<void()>& body, bool forever = false);
    void ranged(const Tree& t, const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step, const Tree& body,
                const Tree* otherwise, const std::function<void(const TypedExpr&)>& begin);
    void unrolled(const Tree& t, const std::vector<TypedExpr>& items, std::size_t k);
    void after_loop(const Tree* otherwise, const Variable& outer_break, const Variable& outer_continue);

    // failures.cpp
    void assertion(const Tree& t);
    void log(const std::string& format, std::span<const TypedExpr> values, const Place& place);
    void fail_when(const TypedExpr& bad, ErrorCode code, const std::string& message, const Place& place, std::vector<TypedExpr> values);
    void report(ErrorCode code, const std::string& message, const Place& place, std::span<const Value> values,
                const std::shared_ptr<const Function>& function);
    void report_guards(const View& v);

    // checks.cpp
    void check_operands(Opcode op, const TypedExpr& a, const TypedExpr& b, DType computed, const Place& place);
    void guard_range(const TypedExpr& start, TypedExpr& stop, const TypedExpr& step, const Place& place);
    void track_writes(const View& v, std::int64_t count, ir::Space space);
    void mark_written(const View& v, Value place);
    void check_written(const View& v, Value place);

    // integers.cpp
    bool exact_integers() const;
    void bound(TypedExpr& result, Opcode op, const TypedExpr& a, const TypedExpr& b, const Place& place, bool wraps);
    void keep_large(const TypedExpr& result, Opcode op, const TypedExpr& a, const TypedExpr& b, const Place& place);
    void narrowed(const TypedExpr& t, DType to);
    TypedExpr whole_to_int(const TypedExpr& x, const Place& place, const std::string& op_name);
    TypedExpr to_int(const TypedExpr& x, const Place& place);
    TypedExpr binary_of(const Tree& t, bool wraps);
    TypedExpr index_expression(const Tree& t);

    // expressions.cpp
    TypedExpr expression(const Tree& t);
    TypedExpr name(const Tree& t);
    TypedExpr unary(const Tree& t, bool wraps);
    TypedExpr unary_of(const std::string& op, const TypedExpr& x, const Place& place, bool wraps = false);
    TypedExpr binary(const std::string& op, const TypedExpr& a, const TypedExpr& b, const Place& place);
    TypedExpr arithmetic(Opcode op, const TypedExpr& a, const TypedExpr& b, NumberType type, const Place& place);
    std::optional<TypedExpr> power_of_root(const TypedExpr& x, double n, NumberType type, const Place& place);
    TypedExpr power(const TypedExpr& a, const TypedExpr& b, const Place& place);
    TypedExpr attribute(const Tree& t);
    TypedExpr attribute_of(const TypedExpr& object, const Tree& t);
    TypedExpr pure(Opcode op, NumberType type, std::initializer_list<TypedExpr> operands, DType operand_dtype);
    TypedExpr math(ir::Math fn, std::span<const TypedExpr> operands, const Place& place);
    TypedExpr cast(const TypedExpr& t, NumberType to);
    Value value(const TypedExpr& t);            // in its own dtype
    Value value(const TypedExpr& t, DType to);  // converted
    DType dtype(NumberType type) const { return rules().dtype(type); }
    /// What types depend on in the function that is walked.
    Rules rules() const { return {source_, options_.fp64, exact_integers(), options_.truncates}; }
    TypedExpr need_number(const TypedExpr& t, const Place& place, const char* op_name);
    TypedExpr index_arithmetic(Opcode op, const TypedExpr& a, const TypedExpr& b);
    TypedExpr add(const TypedExpr& a, const TypedExpr& b) { return index_arithmetic(Opcode::Add, a, b); }
    TypedExpr sub(const TypedExpr& a, const TypedExpr& b) { return index_arithmetic(Opcode::Sub, a, b); }
    TypedExpr mul(const TypedExpr& a, const TypedExpr& b) { return index_arithmetic(Opcode::Mul, a, b); }

    // conditions.cpp
    TypedExpr truth(const TypedExpr& t, const Place& place);
    TypedExpr compare(const Tree& t, std::size_t from, const TypedExpr& left);
    TypedExpr compared(const std::string& op, const TypedExpr& a, const TypedExpr& b, const Place& place);
    TypedExpr compared_signs(const std::string& op, Opcode opcode, const TypedExpr& a, const TypedExpr& b);
    TypedExpr compared_tuples(const std::string& op, const TypedExpr& a, const TypedExpr& b, std::size_t from, const Place& place);
    TypedExpr selected(const TypedExpr& test, const Variable& x, const Variable& y, const Place& place);
    /// What an `if` asks: numbers are true if they are not zero.
    TypedExpr condition(const Tree& t);
    TypedExpr logical(const Tree& t, std::size_t from, bool strict);
    TypedExpr choice(const Tree& t);
    TypedExpr chosen(const TypedExpr& test, const Tree& yes, const std::function<TypedExpr()>& then_part,
                     const std::function<TypedExpr()>& else_part, const Place& place);

    // arrays.cpp
    TypedExpr subscript(const Tree& t);
    TypedExpr part_of(const TypedExpr& tuple, const Tree& t);
    std::size_t field_at(const TypedExpr& object, const Tree& t);
    TypedExpr field(const TypedExpr& object, std::size_t k);
    TypedExpr loaded(const TypedExpr& t);
    TypedExpr number_in(const TypedExpr& t);
    std::vector<TypedExpr> indices_of(const Tree& t);
    TypedExpr indexed(const TypedExpr& object, std::span<const TypedExpr> indices, const Tree& t);
    View viewed(const View& v, std::span<const TypedExpr> indices, const Tree& t);
    TypedExpr index_of(const TypedExpr& index, const TypedExpr& extent, const Place& place, std::vector<Guard>& guards);
    Value wrapped(Value i, Value extent);
    Value guard_of(const View& v);
    /// Does `access` where the view's indices are in range, and reports those that are not; `otherwise`: what it gives there.
    ir::Builder::Values guarded(const View& v, const std::function<ir::Builder::Values()>& access, ir::Builder::Values otherwise);
    TypedExpr element(const View& v);
    View part_at(const View& v, const TypedExpr& i);
    void store(const Tree& target, const TypedExpr& value, const Place& place);
    void store_into(const TypedExpr& place, const TypedExpr& value, const Tree& target, const Place& at);
    bool is_field(const TypedExpr& object, const Tree& target) const;
    void store_at(const TypedExpr& object, std::span<const TypedExpr> indices, const Tree& target, const TypedExpr& value,
                  const Place& place);
    void store_element(const View& v, const TypedExpr& value, const Place& place);
    void store_view(const View& v, const TypedExpr& value, const Place& place);
    TypedExpr own_view(const std::string& name, DType dtype, std::size_t rank);
    TypedExpr own_array(ir::Space space, const std::string& name, DType dtype, const std::vector<std::int64_t>& extents,
                        const Place& place);
    /// One whose elements have no values yet.
    TypedExpr unwritten_array(ir::Space space, const std::string& name, DType dtype, const std::vector<std::int64_t>& extents,
                              const Place& place);
    void note_access(const View& v, ir::Access access);
    void note_own_element(const View& v, std::span<const TypedExpr> indices);
    /// The part of an axis that a slice takes: where it starts, how many elements, how far they are apart.
    std::array<TypedExpr, 3> sliced(const TypedExpr& slice, const TypedExpr& extent, const Place& place);
    TypedExpr number_or_none(const TypedExpr& bound, const Place& place);

    // lists.cpp
    void note_item(const TypedExpr& list, const TypedExpr& item, const Place& place);
    TypedExpr new_list(const Tree& t, const TypedExpr* contents = nullptr);
    void fill_list(const TypedExpr& list, const TypedExpr& contents, const TypedExpr& room);
    const GivenList* given_list(const TypedExpr& list) const;
    Value nothing_failed();
    void take_lists();
    void hand_lists();
    TypedExpr list(const Tree& t);
    TypedExpr list_length(const TypedExpr& list);
    void set_list_length(const TypedExpr& list, Value count);
    TypedExpr elements_of(const TypedExpr& list);
    TypedExpr changing_elements(const TypedExpr& list);
    TypedExpr list_item(const TypedExpr& list, const View& place);
    View list_place(const TypedExpr& list, std::span<const TypedExpr> indices, const Tree& t);
    void list_append(const TypedExpr& list, const TypedExpr& item, const Place& place);
    void add_to_set(const TypedExpr& set, const TypedExpr& item, const Place& place);
    TypedExpr popped(const TypedExpr& list, const Place& place);
    void cleared(const TypedExpr& list);
    TypedExpr same_length(const TypedExpr& set, const TypedExpr& length, const Place& place);
    TypedExpr contained(const TypedExpr& item, const TypedExpr& values, const Place& place);
    TypedExpr item_at(const TypedExpr& values, const TypedExpr& index, const Tree& t);

    // array_expr/values.cpp
    using Elementwise = std::function<TypedExpr(const std::vector<TypedExpr>& numbers)>;
    using NumberHandler = TypedExpr (*)(Lowering& l, const Tree& t, const std::vector<TypedExpr>& a);
    std::shared_ptr<const Rows> rows_of(const TypedExpr& t);
    View view_at(const View& v, std::span<const TypedExpr> index);
    void broadcast(Rows& out, const Rows& operand, const Place& place);
    TypedExpr element_at(const TypedExpr& operand, std::span<const TypedExpr> index, bool same);
    TypedExpr each(std::vector<TypedExpr> operands, int cost, const Place& place, const Elementwise& f);
    TypedExpr array_binary(const std::string& op, const TypedExpr& a, const TypedExpr& b, const Place& place);
    TypedExpr array_unary(const std::string& op, const TypedExpr& x, const Place& place);
    TypedExpr array_call(const Tree& t, std::vector<TypedExpr> arguments, NumberHandler handler, bool of_floats);
    TypedExpr triangle(const TypedExpr& t, const TypedExpr& k, bool upper);

    // array_expr/loops.cpp
    ir::Builder::Values where_valid(const std::vector<Guard>& guards, const std::vector<Equal>& equal,
                                    const std::function<ir::Builder::Values(bool same)>& run, const ir::Builder::Values& otherwise);
    /// `apart`: each index by itself; then threads may share them.
    void nest(std::span<const TypedExpr> extents, bool lanes, const std::function<void(std::span<const TypedExpr>)>& body,
              bool apart = false);
    TypedExpr accumulated(std::span<const TypedExpr> extents, ir::Combine combine, DType type, bool lanes,
                          const std::function<TypedExpr(std::span<const TypedExpr>)>& element);

    // array_expr/stores.cpp
    void store_rows(const View& target, const TypedExpr& stored, const Place& place, bool fits = false);
    TypedExpr own_memory(const std::string& name, DType dtype, const std::vector<TypedExpr>& extents, const Place& place);
    void note_own_memory(const std::vector<TypedExpr>& extents);
    void need_own_memory();
    std::int64_t own_bytes() const;
    void sized_memory(View& view, std::vector<TypedExpr>& extents, const Place& place);
    TypedExpr settled(const TypedExpr& t, const Place& place);

    // array_expr/joins.cpp
    bool joins_arrays(const std::string& name, const Scope& before, const Scope& a, const Scope& b);
    TypedExpr joint_array(const TypedExpr& x, const TypedExpr& y, const Place& place, bool of_any_size = false);
    void keep_rebound();
    TypedExpr named(const std::string& name, const TypedExpr& given, const Place& place);
    TypedExpr put_into(const TypedExpr& joint, const TypedExpr& made, const Place& place);

    bool is_contiguous(const View& v);

    // array_expr/indices.cpp
    struct Gathered {
        Rows rows;
        std::function<View(std::span<const TypedExpr> index)> view;  // the element there
    };
    Gathered gathered(const View& v, std::span<const TypedExpr> indices, int k, const Tree& t);
    TypedExpr mask_of(const View& v, const TypedExpr& mask, const Place& place, std::vector<Guard>& guards);
    TypedExpr compressed(const View& v, const TypedExpr& given, const Place& place);
    void store_masked(const View& v, const TypedExpr& given, const std::function<TypedExpr(const TypedExpr& old)>& changed,
                      const Place& place);
    TypedExpr reshaped(const TypedExpr& given, std::vector<TypedExpr> shape, const std::string& op_name, const Place& place);
    void store_gathered(const Gathered& target, const std::string& name, const TypedExpr& stored, const Place& place);

    // array_expr/reductions.cpp
    TypedExpr count_of(std::span<const TypedExpr> extents);
    TypedExpr folded_rows(const RowFold& fold, std::span<const TypedExpr> extents, DType of, bool lanes,
                          const std::function<TypedExpr(std::span<const TypedExpr>)>& at);
    TypedExpr squared(const TypedExpr& x, const Place& place);
    TypedExpr number_of_rows(const Rows& rows, const std::function<TypedExpr(bool same)>& made);
    TypedExpr reduced(const TypedExpr& given, const RowFold& fold, const TypedExpr& axis, bool keeps);

    // array_expr/products.cpp
    void require_same(const TypedExpr& a, const TypedExpr& b, const std::string& message, const Place& place, std::vector<Guard>& guards);
    TypedExpr product(const TypedExpr& given_a, const TypedExpr& given_b, const std::string& op_name, const Place& place);
    TypedExpr outer_product(const TypedExpr& given_a, const TypedExpr& given_b, const Place& place);

    // calls/calls.cpp
    Tree ordered(const Tree& t, std::size_t from, const char* names, std::initializer_list<const char*> kept, bool gaps = false) const;
    TypedExpr call(const Tree& t);
    static const Tree* out_of(const Tree& call);
    TypedExpr call_into(const Tree& given, const Tree* out);
    static NumberHandler number_function(const std::string& name);
    TypedExpr method(const Tree& t);

    // calls/functions.cpp
    TypedExpr apply(const Tree& t);
    TypedExpr called(const std::shared_ptr<const Function>& callee, const TypedExpr* self, std::span<const Tree> arguments,
                     const Place& place);
    TypedExpr starred(const Tree& t);
    TypedExpr inlined(std::shared_ptr<const Function> callee, Scope given, const Place& place);

    // calls/draws.cpp
    TypedExpr iteration_number();
    void count_draws();

    // calls/structs.cpp
    TypedExpr as_field(const TypedExpr& given, DType to, const std::string& name, const Place& place);
    TypedExpr structure(const Tree& t, const std::vector<TypedExpr>& a);
    TypedExpr replaced(const Tree& t, const std::vector<TypedExpr>& a);
    std::optional<syntax::Member> member_of(const TypedExpr& object, const std::string& name) const;
    std::shared_ptr<const Function> function_of(const syntax::Member& member, const Place& place) const;
    std::optional<TypedExpr> by_method(const std::string& name, const TypedExpr& object, std::initializer_list<TypedExpr> arguments,
                                       const Place& place);
    std::optional<TypedExpr> by_operator(const TypedExpr& a, const TypedExpr& b, const std::string& op, bool in_place, const Place& place);
    std::optional<TypedExpr> by_comparison(const std::string& op, const TypedExpr& a, const TypedExpr& b, const Place& place);

    Source source_;  // the function that is walked
    const bool takes_item_;
    const Space& space_;
    const std::vector<ArgumentType>& types_;
    const Options options_;
    const LoopSpec* const loop_;
    std::set<std::string> own_;  // names that each iteration of a parallel loop has for itself, and that had values before it
    Place at_;                   // of the statement that is walked
    LaneChoice lanes_;
    struct Around {
        const Tree* loop;
        std::size_t calls;  // functions under way there
    };
    std::vector<Around> around_;  // loops
    ir::Builder builder_;
    Lowered out_;
    OutsideNumbers outside_;
    Scope scope_;
    std::vector<TypedExpr> arguments_;
    std::vector<const Function*> stack_;  // functions under way: none may come twice
    Value round_ = ir::no_value;          // of a loop that reduces
    std::vector<Value> own_indices_;      // of a parallel loop that does not: its indices
    HostMemory host_;
    Walk walk_;
    std::map<Value, Value> written_;            // arrays of groups and items whose reads are checked, and their flags
    std::vector<Value> group_flags_;            // those of groups
    std::map<std::string, TypedExpr> rebound_;  // arrays whose names a loop gives others, and the memory for all of them
    bool wraps_ = false;                        // of the operation that is walked next, only the low bits are asked for
    int first_array_ = 0;                       // of the function that is walked
    int versions_ = 0, arrays_ = 0, loops_ = 0, operands_ = 0;
    TypedExpr key_;  // of random numbers
    std::int64_t draw_places_ = 0;
    std::map<const Tree*, NumberType> list_types_;  // of the elements of lists, by where these are made, as far as is known
    bool lists_changed_ = false;                    // in the walk that is under way
};

/// Lowers a function; without lanes loops where threads that share them would have to wait for each other.
Lowered lowered(const std::shared_ptr<const Function>& function, bool takes_item, const Space& space,
                const std::vector<ArgumentType>& arguments, const Options& options, const LoopSpec* loop, OutsideUse* outside);

}  // namespace pardo::lang
