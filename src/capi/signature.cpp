// src/capi/signature.cpp: arrays as a declaration of a function's parameters asks for them.
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "capi/functions.h"
#include "capi/handle.h"

namespace pardo::capi {
namespace {

/// Reads "float64 a[m,n], any b[3]" from left to right.
class Parameters {
public:
    Parameters(const char* function, std::string_view text) : function_(function), whole_(text), rest_(text) {}

    bool at_end() {
        skip();
        return rest_.empty();
    }
    std::string_view word() {
        skip();
        std::size_t n = 0;
        while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_')) ++n;
        if (n == 0) fail();
        const std::string_view found = rest_.substr(0, n);
        rest_.remove_prefix(n);
        return found;
    }
    bool takes(char c) {
        skip();
        const bool here = !rest_.empty() && rest_[0] == c;
        if (here) rest_.remove_prefix(1);
        return here;
    }
    void expect(char c) {
        if (!takes(c)) fail();
    }
    [[noreturn]] void fail() const {
        throw Error(ErrorCode::Value, std::string(function_) + ": parameters are written as \"float64 a[m,n], any b[3]\", not \"" +
                                          std::string(whole_) + "\"");
    }

private:
    void skip() {
        while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
    }
    const char* function_;
    std::string_view whole_, rest_;
};

int32_t dtype_number(std::string_view name, const Parameters& from) {
    if (name == "any") return PARDO_ANY;
    for (int t = 0; t < dtype_count; ++t)
        if (dtype_name(static_cast<DType>(t)) == name) return number_of(static_cast<DType>(t));
    from.fail();
}

/// An extent's name, where it came first, and what it is there.
struct Named {
    std::string_view name, array;
    int64_t extent;
};

}  // namespace

pardo_status arrays_check(const char* name, const char* parameters, const pardo_array* arrays, size_t n, int64_t* extents) {
    constexpr const char* function = "arrays_check";
    return guarded(function, [&] {
        require(function, name, "name");
        require(function, parameters, "parameters");
        if (n > 0) require(function, arrays, "arrays");
        Parameters from(function, parameters);
        std::vector<Named> known;
        std::string wrong;  // dtypes and ranks of all are looked at first
        std::size_t k = 0;
        for (; !from.at_end(); ++k) {
            if (k > 0) from.expect(',');
            const int32_t dtype = dtype_number(from.word(), from);
            const std::string_view array = from.word();
            std::string_view axes[PARDO_MAX_NDIM];
            int32_t ndim = 0;
            from.expect('[');
            while (!from.takes(']')) {
                if (ndim == PARDO_MAX_NDIM) from.fail();
                if (ndim > 0) from.expect(',');
                axes[ndim++] = from.word();
            }
            if (k >= n) continue;
            const std::string what = std::string(name) + ": " + std::string(array);
            const graph::Node& node = *as_node(function, arrays[k], what.c_str());
            check_array(what.c_str(), node, dtype, ndim, PARDO_C_CONTIGUOUS);
            for (int d = 0; d < ndim; ++d) {
                const std::string_view axis = axes[d];
                const auto same = [&](const Named& x) { return x.name == axis; };
                const auto at = std::find_if(known.begin(), known.end(), same);
                int64_t expected = node.shape[d];
                const bool number = std::from_chars(axis.data(), axis.data() + axis.size(), expected).ec == std::errc();
                if (!number && at == known.end()) {
                    known.push_back({axis, array, node.shape[d]});
                    continue;
                }
                if (!number) expected = at->extent;
                if (expected == node.shape[d] || !wrong.empty()) continue;
                wrong = std::string(array) + " is of the shape " + to_string(node.shape) + ", where " + std::string(axis) +
                        (number ? " is expected" : " is " + std::to_string(expected) + " as in " + std::string(at->array));
            }
        }
        if (k != n)
            throw Error(ErrorCode::Value,
                        std::string(name) + ": " + std::to_string(k) + " arrays are declared, and " + std::to_string(n) + " given");
        if (!wrong.empty()) throw Error(ErrorCode::Value, std::string(name) + ": the shapes do not fit: " + wrong);
        for (std::size_t i = 0; extents && i < known.size(); ++i) extents[i] = known[i].extent;
    });
}

}  // namespace pardo::capi
