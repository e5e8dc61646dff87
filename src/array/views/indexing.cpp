// src/array/views/indexing.cpp: x[index] and x[index] = value: slices and integers as views, index arrays and masks as copies.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <pardo/error.h>
#include <pardo/ops.h>

#include "array/calls/gather.h"
#include "array/views/views.h"
#include "plan/force.h"

namespace pardo::arrays {
namespace {

std::string count_text(int n, const char* noun) { return std::to_string(n) + "-" + noun; }

[[noreturn]] void throw_too_many(const Array& x, int indexed) {
    throw Error(ErrorCode::Index, "x[...]: too many indices for array: array is " + count_text(x.ndim(), "dimensional") + ", but " +
                                      std::to_string(indexed) + " were indexed");
}

/// start, step and count of a slice over an extent, as Python's slice.indices.
struct ResolvedSlice {
    std::int64_t start, step, count;
};

ResolvedSlice resolve(const Slice& s, std::int64_t extent) {
    const std::int64_t step = s.step.value_or(1);
    if (step == 0) throw Error(ErrorCode::Value, "x[...]: slice step cannot be zero");
    const bool back = step < 0;
    const auto clip = [&](std::int64_t i) {
        if (i < 0) i += extent;
        return std::clamp<std::int64_t>(i, back ? -1 : 0, back ? extent - 1 : extent);
    };
    const std::int64_t start = s.start ? clip(*s.start) : back ? extent - 1 : 0;
    const std::int64_t stop = s.stop ? clip(*s.stop) : back ? -1 : extent;
    const std::int64_t distance = back ? start - stop : stop - start;
    if (distance <= 0) return {0, 1, 0};
    // Unsigned: the smallest int64 has no positive counterpart.
    const std::uint64_t size = back ? 0 - static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step);
    const auto count = static_cast<std::int64_t>((static_cast<std::uint64_t>(distance) - 1) / size + 1);
    return {start, count == 1 ? 1 : step, count};
}

std::int64_t checked_index(std::int64_t i, std::int64_t extent, int axis) {
    if (i >= -extent && i < extent) return i < 0 ? i + extent : i;
    throw Error(ErrorCode::Index, "x[...]: index " + std::to_string(i) + " is out of bounds for axis " + std::to_string(axis) +
                                      " with size " + std::to_string(extent));
}

bool is_advanced(const IndexPart& part) { return std::holds_alternative<Array>(part) || std::holds_alternative<bool>(part); }

/// Dimensions of x that a part uses up.
int consumed(const IndexPart& part) {
    if (std::holds_alternative<NewAxis>(part) || std::holds_alternative<Ellipsis>(part) || std::holds_alternative<bool>(part)) return 0;
    const Array* array = std::get_if<Array>(&part);
    return array && array->dtype() == DType::Bool ? array->ndim() : 1;
}

/// What an index means for an array.
struct Selection {
    bool advanced = false;
    bool full_integer = false;   // integers for all dimensions and nothing else: x[i, j]
    Array view;                  // basic part; advanced axes are still whole
    std::vector<Array> indices;  // one for each of `axes`
    SmallVector<int, 8> axes;    // of `view`
    bool front = false;          // advanced parts are apart: their dimensions come first in the result
    int position = 0;            // else: where in the result they come

    explicit Selection(const Array& x) : view(x) {}
};

/// A mask's true positions; throws when its shape is not that of the dimensions it stands for.
std::vector<Array> mask_positions(const Array& x, const Array& mask, int axis) {
    for (int d = 0; d < mask.ndim(); ++d) {
        const std::int64_t want = x.shape()[static_cast<std::size_t>(axis + d)], got = mask.shape()[static_cast<std::size_t>(d)];
        if (want == got || got == 0) continue;  // as in NumPy, an empty mask selects nothing
        throw Error(ErrorCode::Index, "x[mask]: boolean index did not match indexed array along axis " + std::to_string(axis + d) +
                                          "; size of axis is " + std::to_string(want) + " but size of corresponding boolean axis is " +
                                          std::to_string(got));
    }
    return nonzero(mask);
}

/// Reads an index expression from left to right.
class IndexReader {
public:
    IndexReader(const Array& x, std::span<const IndexPart> index) : x_(x), index_(index), view_(x), selection_(x) {
        int used = 0;
        bool ellipsis = false;
        for (const IndexPart& part : index) {
            used += consumed(part);
            selection_.advanced |= is_advanced(part);
            if (!std::holds_alternative<Ellipsis>(part)) continue;
            if (ellipsis) throw Error(ErrorCode::Index, "x[...]: an index can only have a single ellipsis ('...')");
            ellipsis = true;
        }
        if (used > x.ndim()) throw_too_many(x, used);
        hidden_ = x.ndim() - used;
        selection_.full_integer =
            !selection_.advanced && !ellipsis && hidden_ == 0 &&
            std::all_of(index.begin(), index.end(), [](const IndexPart& p) { return std::holds_alternative<std::int64_t>(p); });
        if (!ellipsis) trailing_ = true;
    }

    Selection read() {
        for (const IndexPart& part : index_) std::visit([&](const auto& p) { take(p); }, part);
        if (trailing_) whole(hidden_);
        selection_.view = view_.finish("x[...]");
        return std::move(selection_);
    }

private:
    std::int64_t extent() const { return x_.shape()[static_cast<std::size_t>(dim_)]; }

    void whole(int count) {
        for (int i = 0; i < count; ++i, ++dim_) basic(), view_.walk(dim_, extent());
    }
    /// A dimension of the result that no index array names.
    void basic() {
        if (run_ == Run::Inside) run_ = Run::Over;
        ++plain_;
    }
    /// An index array along the view's next dimension, which the caller appends.
    void name_axis(const Array& given) {
        const Array indices = following(given, x_.node()->queue.get(), "x[...]");
        if (run_ == Run::Over) selection_.front = true;
        if (run_ == Run::None) selection_.position = plain_;
        run_ = Run::Inside;
        selection_.axes.push_back(view_.rank());
        selection_.indices.push_back(indices);
    }

    void take(std::int64_t i) {
        const std::int64_t at = checked_index(i, extent(), dim_);
        view_.start(dim_, at);
        ++dim_;
        if (!selection_.advanced) return;
        // Together with index arrays an integer counts as one: it takes part in where their dimensions go.
        if (run_ == Run::Over) selection_.front = true;
        if (run_ == Run::None) selection_.position = plain_;
        run_ = Run::Inside;
    }
    void take(const Slice& slice) {
        const ResolvedSlice w = resolve(slice, extent());
        basic();
        view_.start(dim_, w.start);
        view_.walk(dim_++, w.count, w.step);
    }
    void take(NewAxis) {
        basic();
        view_.repeat(1);
    }
    void take(Ellipsis) {
        if (hidden_ == 0 && run_ == Run::Inside) run_ = Run::Over;  // even an empty one sets index arrays apart
        whole(hidden_);
    }
    void take(bool value) {
        const std::int64_t count[] = {value ? 1 : 0};
        name_axis(zeros(count, DType::Int64, x_.queue()));
        view_.repeat(1);
    }
    void take(const Array& array) {
        if (array.dtype() == DType::Bool) {
            if (array.ndim() == 0) return take(array.item().b);
            for (const Array& positions : mask_positions(x_, array, dim_)) add_array(positions);
            return;
        }
        if (!is_integer(array.dtype())) {
            throw Error(ErrorCode::Index, "x[...]: arrays used as indices must be of integer (or boolean) type, got " +
                                              std::string(dtype_name(array.dtype())));
        }
        add_array(array);
    }
    void add_array(const Array& indices) {
        name_axis(indices);
        view_.walk(dim_, extent());
        ++dim_;
    }

    enum class Run : std::uint8_t { None, Inside, Over };  // of neighbouring advanced parts

    const Array& x_;
    std::span<const IndexPart> index_;
    ViewBuilder view_;
    Selection selection_;
    Run run_ = Run::None;
    int dim_ = 0, plain_ = 0, hidden_ = 0;
    bool trailing_ = false;
};

/// The broadcast shape of index arrays.
Shape index_shape(const std::vector<Array>& indices) {
    Shape shape;
    bool fits = true;
    for (const Array& i : indices) fits = fits && broadcast_into(shape, i.shape());
    if (fits) return shape;
    std::string text = "x[...]: shape mismatch: indexing arrays could not be broadcast together with shapes";
    for (const Array& i : indices) text += " " + to_string(i.shape());
    throw Error(ErrorCode::Index, text);
}

/// Moves `count` leading dimensions to `position`, or back.
Array move_block(const Array& x, int count, int position, bool back) {
    if (count == 0 || position == 0) return x;
    SmallVector<std::int64_t, 8> leading, placed;
    for (int d = 0; d < count; ++d) {
        leading.push_back(d);
        placed.push_back(position + d);
    }
    return back ? moveaxis(x, placed, leading) : moveaxis(x, leading, placed);
}

const Array* lone_mask(const Array& x, std::span<const IndexPart> index) {
    if (index.size() != 1) return nullptr;
    const Array* mask = std::get_if<Array>(&index[0]);
    if (!mask || mask->dtype() != DType::Bool || mask->ndim() == 0) return nullptr;
    return mask->node()->shape == x.node()->shape ? mask : nullptr;
}

/// NumPy lets a value have more dimensions than its place if the extra ones are of extent one.
Array without_leading_ones(const Array& value, int rank) {
    std::size_t skip = 0;
    while (value.ndim() - static_cast<int>(skip) > rank && value.shape()[skip] == 1) ++skip;
    return skip == 0 ? value : reshape(value, value.shape().subspan(skip));
}

void set_advanced(const Selection& s, const Array& value) {
    const Array& view = s.view;
    const Shape block = index_shape(s.indices);
    Shape result = block;
    int plain = 0;
    for (int d = 0; d < view.ndim(); ++d) {
        if (std::find(s.axes.begin(), s.axes.end(), d) != s.axes.end()) continue;
        if (s.front || plain >= s.position) {
            result.push_back(view.shape()[static_cast<std::size_t>(d)]);
        } else {
            result.insert(plain, view.shape()[static_cast<std::size_t>(d)]);
        }
        ++plain;
    }
    const Array trimmed = without_leading_ones(value, result.size());
    if (!broadcasts_to(trimmed.shape(), result)) {
        throw Error(ErrorCode::Value, "x[...] = value: shape mismatch: value array of shape " + to_string(value.shape()) +
                                          " could not be broadcast to indexing result of shape " + to_string(result));
    }
    const bool as_is = trimmed.size() == 1 || s.front || s.position == 0;
    arrays::scatter(view, s.indices, s.axes, as_is ? trimmed : move_block(broadcast_to(trimmed, result), block.size(), s.position, true));
}

}  // namespace

bool store_locked(const char* op_name, const Array& target, const Array& value, const Array* where, After after, plan::Compile compile) {
    const Array trimmed = without_leading_ones(value, target.ndim());
    if (!broadcasts_to(trimmed.shape(), target.shape())) {
        throw Error(ErrorCode::Value, std::string(op_name) + ": could not broadcast input array from shape " + to_string(value.shape()) +
                                          " into shape " + to_string(target.shape()));
    }
    if (target.size() == 0) return true;
    const bool same = trimmed.node() == value.node();
    return plan::store(target.node(), trimmed.node(), where ? where->node() : nullptr, after, same ? 2 : 1, compile);
}

void store(const char* op_name, const Array& target, const Array& value, const Array* where, After after) {
    if (device::Queue* home = target.node()->queue.get(); value.node()->queue.get() != home && follows(value)) [[unlikely]]
        return store(op_name, target, following(value, home, op_name), where, After::Dropped);
    const Array* all[] = {&target, &value, where};
    device::Queue* queue = common_queue(op_name, all);
    require_writeable(op_name, target);
    std::lock_guard guard(state_of(queue).lock);
    while (!store_locked(op_name, target, value, where, after, plan::Compile::Unlocked)) {
    }
}

Array assignable(const Array& target, const Scalar& value) {
    check_number("x[...] = value", value, target.dtype());
    return full({}, value.cast(target.dtype()), target.dtype(), target.queue());
}

}  // namespace pardo::arrays

namespace pardo {

using namespace arrays;

Array Array::operator[](std::span<const IndexPart> index) const {
    (void)arrays::node_of(*this, "x[...]");
    if (const Array* mask = lone_mask(*this, index)) return arrays::compress(*this, *mask);
    Selection s = IndexReader(*this, index).read();
    if (!s.advanced) return s.full_integer ? scalar_copy(s.view) : s.view;
    const Array picked = arrays::gather(s.view, s.indices, s.axes);
    const Array result = s.front ? picked : move_block(picked, index_shape(s.indices).size(), s.position, false);
    if (result.ndim() == 0) result.node()->scalar_value = true;
    return result;
}

Array Array::element(std::int64_t i) const {
    const IndexPart part[] = {i};
    return (*this)[part];
}

void Array::set(ListOf<IndexPart> index, const Array& value, After after) const {
    device::Queue* const home = arrays::node_of(*this, "x[...] = value").queue.get();
    (void)arrays::node_of(value, "x[...] = value");
    if (value.node()->queue.get() != home && follows(value)) [[unlikely]]
        return set(index, following(value, home, "x[...] = value"), After::Dropped);
    const Array* both[] = {this, &value};
    common_queue("x[...] = value", both);
    require_writeable("x[...] = value", *this);
    if (const Array* mask = lone_mask(*this, index)) {
        if (value.ndim() == 0) return store("x[mask] = value", *this, value, mask, after);
        return arrays::put_mask(*this, *mask, value);
    }
    const Selection s = IndexReader(*this, index).read();
    if (s.advanced) return set_advanced(s, value);
    store("x[...] = value", s.view, value, nullptr, after);
}

void Array::set(ListOf<IndexPart> index, const Scalar& value) const { set(index, assignable(*this, value)); }
void Array::assign(const Array& value, After after) const {
    (void)arrays::node_of(*this, "x[...] = value");
    (void)arrays::node_of(value, "x[...] = value");
    store("x[...] = value", *this, value, nullptr, after);
}
void Array::assign(const Scalar& value) const { assign(assignable(*this, value)); }

}  // namespace pardo
