// src/lang/lower.cpp: the frame: arguments become parameters of the kernel, then the function is walked twice.
#include "lang/lower.h"

#include <algorithm>

#include "ir/eval.h"
#include "ir/rules.h"
#include "lang/lowering.h"

namespace pardo::lang {

bool operator==(const ArgumentType& a, const ArgumentType& b) {
    return a.kind == b.kind && a.dtype == b.dtype && a.weak == b.weak && a.assumed == b.assumed && a.rank == b.rank &&
           a.contiguous == b.contiguous && a.last == b.last && a.extents == b.extents && a.parts == b.parts && a.names == b.names &&
           a.columns == b.columns && a.records == b.records && a.structure == b.structure && a.members == b.members &&
           a.function == b.function && a.name == b.name && (a.kind != ArgumentType::Kind::Constant || ir::same_bits(a.scalar, b.scalar));
}

Lowering::Lowering(std::shared_ptr<const Function> function, bool takes_item, const Space& space,
                   const std::vector<ArgumentType>& arguments, const Options& options, const LoopSpec* loop, OutsideUse* outside)
    : source_{std::move(function), {}},
      takes_item_(takes_item),
      space_(space),
      types_(arguments),
      options_(options),
      loop_(loop),
      builder_(source_.function->name, builder_rank(space, loop), !loop || (loop->parallel && loop->results.empty())),
      outside_(outside, arguments.size(), options) {
    if (!space.group_size.empty()) builder_.set_groups(space.group_size, space.sub_group);
    builder_.set_fast_math(options.fast_math);
    builder_.add_file(source_.function->file);
    out_.accesses.assign(types_.size(), ir::Access::Read);
    out_.used.assign(types_.size(), false);
    out_.own_elements.assign(types_.size(), false);
}

/// Row-major arrays bring their extents, others their strides too. An array that is not touched brings only what is asked of it, but
/// the parameters are the same: they cost nothing.
TypedExpr Lowering::array_argument(int k, const std::string& name) {
    const ArgumentType& type = types_[static_cast<std::size_t>(k)];
    View v;
    v.dtype = type.dtype;
    v.source = k;
    v.name = name;
    v.rank = type.rank;
    const auto parameter = [&](Slot::Kind kind, int d, const std::string& label, std::int64_t least) {
        Value given = ir::no_value;
        if (walk_.builds()) {
            given = builder_.scalar_param(label, DType::Int64);
            out_.slots.push_back({kind, k, d});
        }
        TypedExpr extent = number({DType::Int64, true}, given, least);
        if (type.assumed && kind == Slot::Kind::Extent) extent.number().bits = assumed_bits;
        return extent;
    };
    if (walk_.builds()) {
        const ir::Access access = out_.accesses[static_cast<std::size_t>(k)];
        v.pointer = builder_.pointer(name, type.dtype, access, options_.distinct);
        out_.slots.push_back({Slot::Kind::Pointer, k, 0});
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
            if (d > 0) stride = mul(stride, v.lead[static_cast<std::size_t>(1 + d)]);
        }
    } else {
        for (int d = 0; d < type.rank; ++d)
            strides.push_back(parameter(Slot::Kind::Stride, d, name + ".stride" + std::to_string(d), unknown_least));
    }
    v.lead.insert(v.lead.end(), strides.begin(), strides.end());
    return {std::move(v)};
}

/// The k-th argument of the list, and its parts if it is a tuple; k moves on to the next.
TypedExpr Lowering::declare(std::size_t& k, const std::string& name) {
    const std::size_t at = k++;
    const ArgumentType& type = types_[at];
    switch (type.kind) {
        case ArgumentType::Kind::Array: return array_argument(static_cast<int>(at), name);
        case ArgumentType::Kind::Constant: return number(type.scalar);
        case ArgumentType::Kind::None: return {};
        case ArgumentType::Kind::Shared:
            return unwritten_array(ir::Space::Group, name, type.dtype, type.extents, source_.function->body.place);
        case ArgumentType::Kind::Number: {
            const NumberType number_type{type.dtype, type.weak};
            Value v = ir::no_value;
            if (walk_.builds()) {
                v = builder_.scalar_param(name, dtype(number_type));
                out_.slots.push_back({Slot::Kind::Number, static_cast<int>(at), 0});
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
                t.tuple().items.push_back(declare(k, name + (type.names.empty() ? "_" + std::to_string(p) : "." + type.names[p])));
            t.tuple().record = type.records > 0 && first_part(t).kind() == Kind::Array;
            t.tuple().dimensions = type.records;
            return t;
        }
    }
    return {};
}

void Lowering::declare_arguments() {
    arguments_.clear();
    std::size_t parameter = takes_item_ ? 1 : 0;
    for (std::size_t k = 0; k < types_.size(); ++parameter)
        arguments_.push_back(
            declare(k, parameter < source_.function->params.size() ? source_.function->params[parameter] : source_.function->rest));
}

void Lowering::walk_function() {
    arrays_ = 0;
    declare_arguments();
    if (walk_.builds()) outside_.declare(builder_, out_.slots);
    first_array_ = arrays_;
    if (walk_.builds()) host_.declare(builder_, out_.slots, exact_integers(), weak_dtype(DType::Float64, options_.fp64));
    scope_.clear();
    out_.sites.clear();
    out_.fits.clear();
    out_.prints.clear();
    stack_.assign(1, source_.function.get());
    std::size_t at = 0;
    if (takes_item_) {
        const TypedExpr item = space_.group_size.empty() ? TypedExpr{ItemObject{}} : TypedExpr{NdItemObject{}};
        scope_.set(source_.function->params[at++], {item, source_.function->body.place, false, ++versions_});
    }
    for (const TypedExpr& argument : arguments_)
        scope_.set(source_.function->params[at++], {argument, source_.function->body.place, false, ++versions_});
    record_parameters();
    for (const char* name : {break_flag, continue_flag, return_flag}) scope_.set(name, {flag(false), {}, false, ++versions_});
    if (const auto found = scope_.find(key_name); found != scope_.end()) {
        key_ = found->second.expr;
        draw_places_ = 0;
        scope_.set(draws_name, {cast(integer(0), {DType::Int64, false}), {}, false, ++versions_});
    }
    if (loop_) take_lists();
    loop_ ? walk_loop() : block(source_.function->body.parts);
}

Lowered Lowering::run() {
    lanes_.choosing = true;
    do {
        lists_changed_ = false;
        lanes_.begin();
        walk_function();
    } while (lists_changed_);
    lanes_.choosing = false;
    for (std::size_t k = 0; k < types_.size(); ++k)
        if (!out_.used[k]) out_.accesses[k] = ir::Access::Read;
    walk_.begin(true);
    if (lanes_.makes_scalar()) builder_.set_lanes(false);
    walk_function();
    for (const auto& [loop, why] : lanes_.others)
        if (!why.empty() && !exact_integers()) out_.no_lanes.push_back({loop->place.line, why});
    out_.kernel = builder_.finish();
    if (!group_flags_.empty()) out_.kernel = ir::cleared_first(out_.kernel, group_flags_);
    out_.outside = outside_.met();
    out_.accesses.resize(types_.size() + out_.outside.size(), ir::Access::Read);
    out_.used.resize(types_.size() + out_.outside.size(), false);
    out_.own_elements.resize(types_.size() + out_.outside.size(), false);
    return std::move(out_);
}

TypedExpr Lowering::returned() {
    declare_arguments();
    stack_.assign(1, nullptr);
    Scope given;
    TypedExpr rest = tuple({});
    for (std::size_t k = 0; k < arguments_.size(); ++k) {
        if (k < source_.function->params.size())
            given.set(source_.function->params[k], {arguments_[k], source_.function->body.place, false, ++versions_});
        else
            rest.tuple().items.push_back(arguments_[k]);
    }
    if (!source_.function->rest.empty()) given.set(source_.function->rest, {rest, source_.function->body.place, false, ++versions_});
    TypedExpr out;
    do {
        lists_changed_ = false;
        out = inlined(source_.function, given, source_.function->body.place);
    } while (lists_changed_);
    return out;
}

TypedExpr returned(const std::shared_ptr<const Function>& function, const std::vector<ArgumentType>& arguments, const Options& options) {
    const Space space;
    return Lowering(function, false, space, arguments, options).returned();
}

Lowered lowered(const std::shared_ptr<const Function>& function, bool takes_item, const Space& space,
                const std::vector<ArgumentType>& arguments, const Options& options, const LoopSpec* loop, OutsideUse* outside) {
    const std::shared_ptr<const Function> known = outside ? with_fixed(function, outside->fixed) : function;
    Lowered out = Lowering(known, takes_item, space, arguments, options, loop, outside).run();
    if (!options.teams || !ir::passes_elements(out.kernel)) return out;
    Options alone = options;
    alone.lane_loops = false;
    return Lowering(known, takes_item, space, arguments, alone, loop, outside).run();
}

Lowered lower(const std::shared_ptr<const Function>& function, bool takes_item, const Space& space,
              const std::vector<ArgumentType>& arguments, const Options& options, OutsideUse* outside) {
    return lowered(function, takes_item, space, arguments, options, nullptr, outside);
}

}  // namespace pardo::lang
