// src/lang/calls/items.cpp: the place of an item in the range, its group and its sub-group; what the items of these do together.
#include <algorithm>

#include "lang/array_expr/array_expr.h"
#include "lang/calls/calls.h"
#include "lang/expressions.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"
#include "lang/statements.h"

namespace pardo::lang::calls {

struct Items {
    /// What a pair in brackets means in CUDA, where that may have been meant.
    static std::string cuda_launch(int rank) { return rank == 2 ? "; CUDA's [groups, items] is NdRange(groups * items, items)" : ""; }
    static int dimension(Lowering& l, const Tree& t, const TypedExprs& a, std::size_t k) {
        if (k >= a.size()) {
            if (l.task.space.rank == 1) return 0;
            l.source.wrong_type(t.place, t.name + ": the range has " + std::to_string(l.task.space.rank) +
                                             " dimensions; say which one, from 0" +
                                             (l.task.space.group_size.empty() ? cuda_launch(l.task.space.rank) : ""));
        }
        const TypedExpr& d = a[k];
        if (d.kind() != Kind::Number || !d.number().constant || !is_integer(d.number().type.dtype))
            l.source.wrong_type(t.place, t.name + ": the dimension is a constant integer");
        const std::int64_t i = d.number().scalar.i < 0 ? d.number().scalar.i + l.task.space.rank : d.number().scalar.i;
        if (i < 0 || i >= l.task.space.rank)
            l.source.fail(ErrorCode::Index, t.place,
                          t.name + ": the range has " + std::to_string(l.task.space.rank) +
                              (l.task.space.rank == 1 ? " dimension" : " dimensions") + ", there is no dimension " +
                              std::to_string(d.number().scalar.i));
        l.out.asked = std::max(l.out.asked, static_cast<int>(i) + 1);
        return static_cast<int>(i);
    }
    static void in_groups(Lowering& l, const Tree& t) {
        if (l.task.space.group_size.empty())
            l.source.fail(ErrorCode::Type, t.place, t.name + ": a plain Range has no groups; launch the kernel over an NdRange");
    }
    enum class Where : std::uint8_t { Global, Local, Group, GlobalSize, LocalSize, GroupCount };
    static TypedExpr position(Lowering& l, Where where, int d) {
        const auto made = [&](Value (Code::*leaf)(int), std::int64_t least) {
            return number({DType::Int64, true}, (l.builder.*leaf)(d), least);
        };
        switch (where) {
            case Where::Global: return made(&Code::dim, 0);
            case Where::Local: return l.task.space.group_size[static_cast<std::size_t>(d)] == 1 ? integer(0) : made(&Code::local_dim, 0);
            case Where::Group: return made(&Code::group_dim, 0);
            case Where::GlobalSize: return made(&Code::extent, 1);
            case Where::LocalSize: return integer(l.task.space.group_size[static_cast<std::size_t>(d)]);
            case Where::GroupCount: {
                const TypedExpr n = made(&Code::extent, 1), size = integer(l.task.space.group_size[static_cast<std::size_t>(d)]);
                TypedExpr count = pure(l, Opcode::FloorDiv, {DType::Int64, true}, {n, size}, DType::Int64);
                count.number().least = 1;
                return count;
            }
        }
        return {};
    }
    template <Where where> static TypedExpr at(Lowering& l, const Tree& t, const TypedExprs& a) {  // methods: a[0] is the object
        if (where != Where::Global && where != Where::GlobalSize) in_groups(l, t);
        return position(l, where, dimension(l, t, a, 1));
    }
    template <Where where> static TypedExpr function_at(Lowering& l, const Tree& t, const TypedExprs& a) {
        if (where != Where::Global && where != Where::GlobalSize) in_groups(l, t);
        return position(l, where, dimension(l, t, a, 0));
    }
    template <Where where, Where size> static TypedExpr linear(Lowering& l, const Tree& t, const TypedExprs&) {
        if (where != Where::Global) in_groups(l, t);
        l.out.asked = l.task.space.rank;
        TypedExpr out = position(l, where, 0);
        for (int d = 1; d < l.task.space.rank; ++d) out = add(l, mul(l, out, position(l, size, d)), position(l, where, d));
        return out;
    }
    template <Where size> static TypedExpr product(Lowering& l, const Tree& t, const TypedExprs&) {
        if (size != Where::GlobalSize) in_groups(l, t);
        l.out.asked = l.task.space.rank;
        TypedExpr out = position(l, size, 0);
        for (int d = 1; d < l.task.space.rank; ++d) out = mul(l, out, position(l, size, d));
        return out;
    }
    template <class Object> static TypedExpr group(Lowering& l, const Tree& t, const TypedExprs&) {
        in_groups(l, t);
        return {Object{}};
    }
    template <Handler place> static TypedExpr leader(Lowering& l, const Tree& t, const TypedExprs& a) {
        return compared(l, "==", place(l, t, a), integer(0), t.place);
    }

    // Sub-groups: neighbours in row-major order, a power of two of them; the last of a group may have fewer.
    static std::int64_t group_items(const Lowering& l) {
        std::int64_t items = 1;
        for (const std::int64_t n : l.task.space.group_size) items *= n;
        return items;
    }
    template <Opcode op>
    static TypedExpr of_sub_group(Lowering& l, const Tree& t, const TypedExprs& a) {  // Rem: the item in it; FloorDiv: which one
        if (group_items(l) <= l.task.space.sub_group && op == Opcode::FloorDiv) return integer(0);
        const TypedExpr item = linear<Where::Local, Where::LocalSize>(l, t, a);
        if (group_items(l) <= l.task.space.sub_group) return item;
        TypedExpr out = pure(l, op, {DType::Int64, true}, {item, integer(l.task.space.sub_group)}, DType::Int64);
        out.number().least = 0;
        return out;
    }
    static TypedExpr sub_group_most(Lowering& l, const Tree&, const TypedExprs&) {
        return integer(std::min<std::int64_t>(group_items(l), l.task.space.sub_group));
    }
    static TypedExpr sub_group_size(Lowering& l, const Tree& t, const TypedExprs& a) {
        const std::int64_t items = group_items(l), most = l.task.space.sub_group;
        if (items <= most || items % most == 0) return sub_group_most(l, t, a);
        const TypedExpr before = mul(l, of_sub_group<Opcode::FloorDiv>(l, t, a), integer(most));
        return pair(l, t, Opcode::Min, integer(most), sub(l, integer(items), before));
    }
    static TypedExpr sub_group_count(Lowering& l, const Tree&, const TypedExprs&) {
        return integer((group_items(l) + l.task.space.sub_group - 1) / l.task.space.sub_group);
    }
    static TypedExpr is_sub_group(Lowering& l, const Tree& t, const TypedExprs& a) {
        if (a[0].kind() != Kind::Group && a[0].kind() != Kind::SubGroup)
            l.source.wrong_type(t.place, "a group is expected, of item.get_group() or item.get_sub_group(), not " + describe(a[0]));
        return number(Scalar(a[0].kind() == Kind::SubGroup));
    }
    /// (sub-group, value, index): the value of the item that is there, which is one of the sub-group.
    static TypedExpr shuffled(Lowering& l, const Tree& t, const TypedExprs& a) {
        if (a[0].kind() != Kind::SubGroup)
            l.source.wrong_type(t.place, "a SubGroup is expected, of item.get_sub_group(), not " + describe(a[0]));
        if (a[1].kind() == Kind::Tuple) {
            TypedExpr out = tuple_like(a[1], {});
            for (const TypedExpr& part : a[1].tuple().items) out.tuple().items.push_back(shuffled(l, t, {a[0], part, a[2]}));
            return out;
        }
        const TypedExpr x = number_of(l, t, a, 1), item = cast(l, number_of(l, t, a, 2), {DType::Int64, true});
        const Value given = value(l, x), from = value(l, item, DType::Int64);
        return number(x.number().type, l.builder.shuffle(given, from));
    }
    static TypedExpr barrier(Lowering& l, const Tree& t, const TypedExprs&) {
        if (l.task.space.group_size.empty())
            l.source.fail(ErrorCode::Type, t.place,
                          t.name + ": only items of a group can wait for each other; launch the kernel over an NdRange");
        l.builder.barrier();
        return {};
    }

    /// The array itself: what asks for neighbours sees another expression, and lets it pass.
    static TypedExpr unordered(Lowering& l, const Tree& t, const TypedExprs& a) {
        if (a[0].kind() != Kind::Array) l.source.wrong_type(t.place, "unordered: an array is expected, not " + describe(a[0]));
        return a[0];
    }

    static Tables tables();
};

Tables Items::tables() {
    return {
        {
            {"shuffle", {3, 3, shuffled}},
            {"unordered", {1, 1, unordered}},
            {"is_sub_group", {1, 1, is_sub_group}},
            {"group_barrier", {0, 2, barrier, "group"}},
            {"barrier", {0, 1, barrier}},
            {"get_global_id", {0, 1, function_at<Where::Global>}},
            {"get_local_id", {0, 1, function_at<Where::Local>}},
            {"get_group_id", {0, 1, function_at<Where::Group>}},
            {"get_global_size", {0, 1, function_at<Where::GlobalSize>}},
            {"get_local_size", {0, 1, function_at<Where::LocalSize>}},
            {"get_num_groups", {0, 1, function_at<Where::GroupCount>}},
        },
        {
            {"Item.get_id", {1, 2, at<Where::Global>, "dimension"}},
            {"Item.get_range", {1, 2, at<Where::GlobalSize>, "dimension"}},
            {"Item.get_linear_id", {1, 1, linear<Where::Global, Where::GlobalSize>}},
            {"Item.get_linear_range", {1, 1, product<Where::GlobalSize>}},
            {"NdItem.get_global_id", {1, 2, at<Where::Global>, "dimension"}},
            {"NdItem.get_local_id", {1, 2, at<Where::Local>, "dimension"}},
            {"NdItem.get_group", {1, 1, group<GroupObject>}},
            {"NdItem.get_sub_group", {1, 1, group<SubGroupObject>}},
            {"NdItem.get_group_id", {1, 2, at<Where::Group>, "dimension"}},
            {"NdItem.get_global_range", {1, 2, at<Where::GlobalSize>, "dimension"}},
            {"NdItem.get_local_range", {1, 2, at<Where::LocalSize>, "dimension"}},
            {"NdItem.get_group_range", {1, 2, at<Where::GroupCount>, "dimension"}},
            {"NdItem.get_global_linear_id", {1, 1, linear<Where::Global, Where::GlobalSize>}},
            {"NdItem.get_local_linear_id", {1, 1, linear<Where::Local, Where::LocalSize>}},
            {"NdItem.get_group_linear_id", {1, 1, linear<Where::Group, Where::GroupCount>}},
            {"NdItem.get_global_linear_range", {1, 1, product<Where::GlobalSize>}},
            {"NdItem.get_local_linear_range", {1, 1, product<Where::LocalSize>}},
            {"NdItem.get_group_linear_range", {1, 1, product<Where::GroupCount>}},
            {"NdItem.get_id", {1, 2, at<Where::Global>, "dimension"}},
            {"NdItem.get_range", {1, 2, at<Where::GlobalSize>, "dimension"}},
            {"NdItem.get_linear_id", {1, 1, linear<Where::Global, Where::GlobalSize>}},
            {"NdItem.get_linear_range", {1, 1, product<Where::GlobalSize>}},
            {"Group.get_group_id", {1, 2, at<Where::Group>, "dimension"}},
            {"Group.get_local_id", {1, 2, at<Where::Local>, "dimension"}},
            {"Group.get_group_range", {1, 2, at<Where::GroupCount>, "dimension"}},
            {"Group.get_local_range", {1, 2, at<Where::LocalSize>, "dimension"}},
            {"Group.get_group_linear_id", {1, 1, linear<Where::Group, Where::GroupCount>}},
            {"Group.get_group_linear_range", {1, 1, product<Where::GroupCount>}},
            {"Group.get_local_linear_id", {1, 1, linear<Where::Local, Where::LocalSize>}},
            {"Group.get_local_linear_range", {1, 1, product<Where::LocalSize>}},
            {"Group.leader", {1, 1, leader<linear<Where::Local, Where::LocalSize>>}},
            {"SubGroup.get_local_id", {1, 1, of_sub_group<Opcode::Rem>}},
            {"SubGroup.get_local_linear_id", {1, 1, of_sub_group<Opcode::Rem>}},
            {"SubGroup.get_local_range", {1, 1, sub_group_size}},
            {"SubGroup.get_local_linear_range", {1, 1, sub_group_size}},
            {"SubGroup.get_max_local_range", {1, 1, sub_group_most}},
            {"SubGroup.get_group_id", {1, 1, of_sub_group<Opcode::FloorDiv>}},
            {"SubGroup.get_group_linear_id", {1, 1, of_sub_group<Opcode::FloorDiv>}},
            {"SubGroup.get_group_range", {1, 1, sub_group_count}},
            {"SubGroup.get_group_linear_range", {1, 1, sub_group_count}},
            {"SubGroup.leader", {1, 1, leader<of_sub_group<Opcode::Rem>>}},
        },
    };
}

Tables items() { return Items::tables(); }

}  // namespace pardo::lang::calls
