// src/lang/lower.cpp: the frame: arguments become parameters of the kernel, then the function is walked twice.
#include "lang/lower.h"

#include "ir/eval.h"
#include "ir/rules.h"
#include "lang/calls/user.h"
#include "lang/expressions.h"
#include "lang/loops/loops.h"
#include "lang/lowering.h"
#include "lang/memory/own.h"
#include "lang/numbers/numbers.h"
#include "lang/statements.h"

namespace pardo::lang {

bool operator==(const ArgumentType& a, const ArgumentType& b) {
    return a.kind == b.kind && a.dtype == b.dtype && a.weak == b.weak && a.assumed == b.assumed && a.rank == b.rank &&
           a.contiguous == b.contiguous && a.last == b.last && a.extents == b.extents && a.parts == b.parts && a.names == b.names &&
           a.columns == b.columns && a.records == b.records && a.structure == b.structure && a.members == b.members &&
           a.function == b.function && a.name == b.name && (a.kind != ArgumentType::Kind::Constant || ir::same_bits(a.scalar, b.scalar));
}

int Task::rank() const {
    if (!loop) return space.rank;
    if (!loop->parallel) return 0;
    return loop->results.empty() ? loop->dimensions : 1;
}

Emit::Emit(const std::shared_ptr<const Function>& function, const Task& asked)
    : task(asked),
      source{function, {}},
      rules{source, asked.options.fp64, asked.is_serial(), asked.options.truncates},
      builder(walk, function->name, asked.rank(), !asked.loop || (asked.loop->parallel && asked.loop->results.empty())) {
    if (!task.space.group_size.empty()) builder.set_groups(task.space.group_size, task.space.sub_group);
    builder.set_fast_math(task.options.fast_math);
    builder.add_file(function->file);
    out.accesses.assign(task.types.size(), ir::Access::Read);
    out.used.assign(task.types.size(), false);
    out.own_elements.assign(task.types.size(), false);
}

namespace {

/// Row-major arrays bring their extents, others their strides too. An array that is not touched brings only what is asked of it, but
/// the parameters are the same: they cost nothing.
TypedExpr array_argument(Lowering& l, int k, const std::string& name) {
    const ArgumentType& type = l.task.types[static_cast<std::size_t>(k)];
    View v;
    v.dtype = type.dtype;
    v.source = k;
    v.name = name;
    v.rank = type.rank;
    const auto parameter = [&](Slot::Kind kind, int d, const std::string& label, std::int64_t least) {
        Value given = ir::no_value;
        if (l.walk.builds()) {
            given = l.builder.scalar_param(label, DType::Int64);
            l.out.slots.push_back({kind, k, d});
        }
        TypedExpr extent = number({DType::Int64, true}, given, least);
        if (type.assumed && kind == Slot::Kind::Extent) extent.number().bits = assumed_bits;
        return extent;
    };
    if (l.walk.builds()) {
        const ir::Access access = l.out.accesses[static_cast<std::size_t>(k)];
        v.pointer = l.builder.pointer(name, type.dtype, access, l.task.options.distinct);
        l.out.slots.push_back({Slot::Kind::Pointer, k, 0});
    }
    v.lead.push_back(integer(0));
    for (int d = 0; d < type.rank; ++d) {
        const bool known = type.last > 0 && d + 1 == type.rank;
        v.lead.push_back(known ? integer(type.last) : parameter(Slot::Kind::Extent, d, name + ".shape" + std::to_string(d), 0));
    }
    std::vector<TypedExpr> strides;
    if (type.contiguous) {
        TypedExpr stride = integer(1);
        for (int d = type.rank - 1; d >= 0; --d) {
            strides.insert(strides.begin(), stride);
            if (d > 0) stride = mul(l, stride, v.lead[static_cast<std::size_t>(1 + d)]);
        }
    } else {
        for (int d = 0; d < type.rank; ++d)
            strides.push_back(parameter(Slot::Kind::Stride, d, name + ".stride" + std::to_string(d), unknown_least));
    }
    v.lead.insert(v.lead.end(), strides.begin(), strides.end());
    return {std::move(v)};
}

/// The k-th argument of the list, and its parts if it is a tuple; k moves on to the next.
TypedExpr declare(Lowering& l, std::size_t& k, const std::string& name) {
    const std::size_t at = k++;
    const ArgumentType& type = l.task.types[at];
    switch (type.kind) {
        case ArgumentType::Kind::Array: return array_argument(l, static_cast<int>(at), name);
        case ArgumentType::Kind::Constant: return number(type.scalar);
        case ArgumentType::Kind::None: return {};
        case ArgumentType::Kind::Shared:
            return unwritten_array(l, ir::Space::Group, name, type.dtype, type.extents, l.source.function->body.place);
        case ArgumentType::Kind::Number: {
            const NumberType number_type{type.dtype, type.weak};
            Value v = ir::no_value;
            if (l.walk.builds()) {
                v = l.builder.scalar_param(name, l.rules.dtype(number_type));
                l.out.slots.push_back({Slot::Kind::Number, static_cast<int>(at), 0});
            }
            TypedExpr n = number(number_type, v);
            if (type.weak && is_integer(type.dtype)) n.number().argument = static_cast<int>(at);
            n.number().given = n.number().argument >= 0;
            if (type.assumed) {
                n.number().assumed = true;
                n.number().most = (std::int64_t{1} << assumed_bits) - 1;
                n.number().least = -n.number().most;
                n.number().bits = assumed_bits;
            }
            return n;
        }
        case ArgumentType::Kind::Function: return {Callee{type.function, type.name}};
        case ArgumentType::Kind::Tuple: {
            TypedExpr t = tuple({});
            t.tuple().names = type.names;
            t.tuple().columns = type.columns;
            t.tuple().structure = type.structure;
            for (std::size_t p = 0; p < type.parts; ++p)
                t.tuple().items.push_back(declare(l, k, name + (type.names.empty() ? "_" + std::to_string(p) : "." + type.names[p])));
            t.tuple().record = type.records > 0 && first_part(t).kind() == Kind::Array;
            t.tuple().dimensions = type.records;
            return t;
        }
    }
    return {};
}

void declare_arguments(Lowering& l) {
    l.arguments.clear();
    std::size_t parameter = l.task.takes_item ? 1 : 0;
    for (std::size_t k = 0; k < l.task.types.size(); ++parameter)
        l.arguments.push_back(
            declare(l, k, parameter < l.source.function->params.size() ? l.source.function->params[parameter] : l.source.function->rest));
}

void walk_function(Lowering& l) {
    l.arrays.made = 0;
    declare_arguments(l);
    if (l.walk.builds()) l.outside.declare(l.builder.parameters(), l.out.slots);
    l.arrays.first = l.arrays.made;
    if (l.walk.builds())
        l.host.declare(l.builder.parameters(), l.out.slots, l.rules.exact, weak_dtype(DType::Float64, l.task.options.fp64));
    l.scope.clear();
    l.out.sites.clear();
    l.out.fits.clear();
    l.out.prints.clear();
    l.stack.assign(1, l.source.function.get());
    std::size_t at = 0;
    if (l.task.takes_item) {
        const TypedExpr item = l.task.space.group_size.empty() ? TypedExpr{ItemObject{}} : TypedExpr{NdItemObject{}};
        give(l, l.source.function->params[at++], item, l.source.function->body.place);
    }
    for (const TypedExpr& argument : l.arguments) give(l, l.source.function->params[at++], argument, l.source.function->body.place);
    record_parameters(l);
    for (const char* name : {break_flag, continue_flag, return_flag}) give(l, name, flag(false), {});
    if (const auto found = l.scope.find(key_name); found != l.scope.end()) {
        l.draws.key = found->second.expr;
        l.draws.places = 0;
        give(l, draws_name, cast(l, integer(0), {DType::Int64, false}), {});
    }
    if (l.task.loop) take_lists(l);
    l.task.loop ? walk_loop(l) : block(l, l.source.function->body.parts);
}

Lowered run(Lowering& l) {
    l.lanes.choosing = true;
    do {
        l.lists.changed = false;
        l.lanes.begin();
        walk_function(l);
    } while (l.lists.changed);
    l.lanes.choosing = false;
    for (std::size_t k = 0; k < l.task.types.size(); ++k)
        if (!l.out.used[k]) l.out.accesses[k] = ir::Access::Read;
    l.walk.begin(true);
    if (l.lanes.makes_scalar()) l.builder.set_lanes(false);
    walk_function(l);
    for (const auto& [loop, why] : l.lanes.others)
        if (!why.empty() && !l.rules.exact) l.out.no_lanes.push_back({loop->place.line, why});
    l.out.kernel = l.builder.finish();
    if (!l.written.of_groups.empty()) l.out.kernel = ir::cleared_first(l.out.kernel, l.written.of_groups);
    l.out.outside = l.outside.met();
    l.out.accesses.resize(l.task.types.size() + l.out.outside.size(), ir::Access::Read);
    l.out.used.resize(l.task.types.size() + l.out.outside.size(), false);
    l.out.own_elements.resize(l.task.types.size() + l.out.outside.size(), false);
    return std::move(l.out);
}

TypedExpr returned_by(Lowering& l) {
    declare_arguments(l);
    l.stack.assign(1, nullptr);
    Scope given;
    TypedExpr rest = tuple({});
    for (std::size_t k = 0; k < l.arguments.size(); ++k) {
        if (k < l.source.function->params.size())
            given.set(l.source.function->params[k], {l.arguments[k], l.source.function->body.place, false, ++l.versions});
        else
            rest.tuple().items.push_back(l.arguments[k]);
    }
    if (!l.source.function->rest.empty()) given.set(l.source.function->rest, {rest, l.source.function->body.place, false, ++l.versions});
    TypedExpr out;
    do {
        l.lists.changed = false;
        out = inlined(l, l.source.function, given, l.source.function->body.place);
    } while (l.lists.changed);
    return out;
}

}  // namespace

TypedExpr returned(const std::shared_ptr<const Function>& function, const std::vector<ArgumentType>& arguments, const Options& options) {
    const Space space;
    Lowering l(function, {false, space, arguments, options}, nullptr);
    return returned_by(l);
}

Lowered lowered(const std::shared_ptr<const Function>& function, bool takes_item, const Space& space,
                const std::vector<ArgumentType>& arguments, const Options& options, const LoopSpec* loop, OutsideUse* outside) {
    const std::shared_ptr<const Function> known = outside ? with_fixed(function, outside->fixed) : function;
    const auto made = [&](const Options& chosen) {
        Lowering l(known, {takes_item, space, arguments, chosen, loop}, outside);
        return run(l);
    };
    Lowered out = made(options);
    if (!options.teams || !ir::passes_elements(out.kernel)) return out;
    Options alone = options;
    alone.lane_loops = false;
    return made(alone);
}

Lowered lower(const std::shared_ptr<const Function>& function, bool takes_item, const Space& space,
              const std::vector<ArgumentType>& arguments, const Options& options, OutsideUse* outside) {
    return lowered(function, takes_item, space, arguments, options, nullptr, outside);
}

}  // namespace pardo::lang
