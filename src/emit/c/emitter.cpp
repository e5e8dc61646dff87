// src/emit/c/emitter.cpp: the statements of one item: one case for each operation of the IR.
#include "emit/c/emitter.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include <pardo/error.h>

#include "emit/analysis/indices.h"
#include "emit/analysis/loads.h"
#include "emit/analysis/sines.h"
#include "ir/builder.h"
#include "ir/rules.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {

using ir::Opcode;
using ir::Value;

namespace {

constexpr std::size_t longest_expression = 90;

const char* operator_of(Opcode op) {
    switch (op) {
        case Opcode::Add: return " + ";
        case Opcode::Sub: return " - ";
        case Opcode::Mul: return " * ";
        case Opcode::Div: return " / ";
        case Opcode::And: return " & ";
        case Opcode::Or: return " | ";
        case Opcode::Xor: return " ^ ";
        case Opcode::Eq: return " == ";
        case Opcode::Ne: return " != ";
        case Opcode::Lt: return " < ";
        case Opcode::Le: return " <= ";
        case Opcode::Gt: return " > ";
        case Opcode::Ge: return " >= ";
        default: return nullptr;
    }
}

}  // namespace

bool CEmitter::is_expression(const std::string& text) { return text.find_first_of(" ([") != std::string::npos; }

std::string CEmitter::wrapped(const std::string& text) {
    return text.find(' ') != std::string::npos || text.starts_with('-') || text.starts_with('(') ? "(" + text + ")" : text;
}

CEmitter::CEmitter(const ir::Kernel& kernel, const CFeatures& features, const CGeometry& geometry)
    : kernel_(kernel),
      features_(features),
      geometry_(geometry),
      target_(*features.target),
      helpers_(features),
      text_(kernel.values.size()),
      uses_(uses_of(kernel)),
      indices_(index_values(kernel)),
      fixed_(fixed_loads(kernel, uses_)),
      shared_values_(geometry.steps > 0 ? shared_values(kernel, uses_) : no_shared_values(kernel)),
      from_(kernel.values.size()) {
    for (const ir::ValueInfo& v : kernel.values) {
        if (v.type == DType::Float64 && !features.fp64)
            throw Error(ErrorCode::Compile, kernel.name + ": this device has no float64; use float32");
    }
    const int copies = geometry.columns * geometry.rows;
    if (copies > 1 && geometry.mapping == CMapping::Line) early_ = early_loads(kernel, copies);
    if (target_.paired_sines) sines_ = paired_sines(kernel, uses_);
    adjacent_.earlier.resize(kernel.instrs.size());
    if (target_.wide_stores && !uses_team()) adjacent_ = adjacent_stores(kernel);
    for (std::size_t v = 0; v < kernel.values.size(); ++v)
        if (const int k = shared_values_.found[v]; k != SharedValues::none) from_[v] = "kept" + std::to_string(k) + "[u]";
}

void CEmitter::line(const std::string& text) {
    out_.append(static_cast<std::size_t>(4 * depth_), ' ');
    out_ += text;
    out_ += '\n';
}

void CEmitter::declare(Value v, const std::string& value) {
    const std::string name = fresh("v");
    line("const " + c_type(target_, type(v)) + " " + name + " = " + value + ";");
    text_[v] = name;
}

/// The value as a name: for places that write it more than once.
std::string CEmitter::named(Value v) {
    if (!is_expression(text_[v])) return text_[v];
    const std::string name = fresh("v");
    line("const " + c_type(target_, type(v)) + " " + name + " = " + text_[v] + ";");
    return name;
}

/// A pure value that is used once, nearby, is written where it is used.
void CEmitter::define(Value v, const std::string& expression, bool pure) {
    if (uses_.count[v] == 0 && pure) return;
    if (pure && (!is_expression(expression) || (uses_.once_nearby(v) && expression.size() < longest_expression))) {
        text_[v] = expression;
    } else {
        declare(v, expression);
    }
}

void CEmitter::body(const ir::Region& region, const Instr* owner) {
    const int outer_stores = stores_;
    stores_ = 0;
    for (const ir::InstrId i : region.body) stores_ += ir::has_effect(kernel_.instrs[i].op) || !kernel_.instrs[i].regions.empty();
    if (owner) owners_.push_back(owner);
    for (const ir::InstrId i : region.body) {
        if (kernel_.instrs[i].op == Opcode::Yield) break;  // its owner's business
        if (shared_values_.idle[i] || adjacent_.earlier[i]) continue;
        if (const auto run = adjacent_.runs.find(i); run != adjacent_.runs.end()) {
            store_together(run->second);
            continue;
        }
        instr(kernel_.instrs[i]);
        for (const Value v : kernel_.instrs[i].results) {
            const int array = shared_values_.kept[v];
            if (array == SharedValues::none) continue;
            const std::string name = named(v);
            line("kept" + std::to_string(array) + "[u] = " + name + ";");
            text_[v] = name;
        }
    }
    if (owner) owners_.pop_back();
    stores_ = outer_stores;
}

void CEmitter::instr(const Instr& in) {
    const Value result = in.results.empty() ? ir::no_value : in.results[0];
    if (result != ir::no_value && !from_[result].empty()) {
        text_[result] = from_[result];
        return;
    }
    switch (in.op) {
        case Opcode::Const: text_[result] = constant(in.scalar); break;
        case Opcode::Param: text_[result] = names_[in.index]; break;
        case Opcode::Dim: text_[result] = "i" + std::to_string(in.index); break;
        case Opcode::Extent: text_[result] = "n" + std::to_string(in.index); break;
        case Opcode::LocalDim: text_[result] = "l" + std::to_string(in.index); break;
        case Opcode::GroupDim: text_[result] = "g" + std::to_string(in.index); break;
        case Opcode::Array: text_[result] = array_names_[in.index]; break;
        case Opcode::Atomic:
        case Opcode::CompareExchange: atomic(in); break;
        case Opcode::Report: report(in); break;
        case Opcode::Shuffle: shuffle(in); break;
        case Opcode::Fence: line(std::string(target_.fences[static_cast<int>(in.scope)]) + ";"); break;
        case Opcode::Barrier: line(std::string(target_.barrier) + ";"); break;
        case Opcode::Load: load(in); break;
        case Opcode::Store: store(in); break;
        case Opcode::For: in.loop == ir::LoopKind::Lanes ? lanes_loop(in) : serial_loop(in); break;
        case Opcode::While: while_loop(in); break;
        case Opcode::If: branch(in); break;
        case Opcode::Yield: break;
        default: arithmetic(in); break;
    }
}

// ---- arithmetic ------------------------------------------------------------------------------------------------------------------

std::string CEmitter::constant(const Scalar& value) {
    char text[48];
    char* end = text;
    const DType dtype = value.dtype;
    switch (kind_of(dtype)) {
        case DKind::Bool: return value.b ? "true" : "false";
        case DKind::Signed:
            if (value.i == INT64_MIN) return "(-9223372036854775807 - 1)";
            end = std::to_chars(text, text + sizeof text, value.i).ptr;
            return dtype == DType::Int64 && (value.i > INT32_MAX || value.i < INT32_MIN) ? std::string(text, end) + "L"
                   : dtype == DType::Int64                                               ? std::string(text, end)
                                           : "(" + c_type(target_, dtype) + ")" + std::string(text, end);
        case DKind::Unsigned:
            end = std::to_chars(text, text + sizeof text, value.u).ptr;
            return "(" + c_type(target_, dtype) + ")" + std::string(text, end) + (value.u > UINT32_MAX ? "UL" : "u");
        default: break;
    }
    const bool single = dtype != DType::Float64;
    if (!std::isfinite(value.f)) {
        const std::uint64_t bits =
            single ? std::bit_cast<std::uint32_t>(static_cast<float>(value.f)) : std::bit_cast<std::uint64_t>(value.f);
        end = std::to_chars(text, text + sizeof text, bits, 16).ptr;
        return std::string(single ? target_.f32_from_bits : target_.f64_from_bits) + "(0x" + std::string(text, end) +
               (single ? "u)" : "UL)");
    }
    end = single ? std::to_chars(text, text + sizeof text, static_cast<float>(value.f)).ptr
                 : std::to_chars(text, text + sizeof text, value.f).ptr;
    std::string out(text, end);
    if (out.find_first_of(".en") == std::string::npos) out += ".0";
    return single ? out + "f" : out;
}

std::string CEmitter::rounded(DType dtype, std::string expression) {
    if (dtype != DType::Float16) return expression;
    helpers_.use("f16", dtype);
    return "f16_to_f32(f32_to_f16(" + expression + "))";
}

/// Integer arithmetic that may overflow goes by unsigned integers; narrow ones come back from int.
std::string CEmitter::wrapping(const char* sign, DType dtype, const std::string& a, const std::string& b) {
    const std::string t = c_type(target_, dtype);
    if (kind_of(dtype) == DKind::Unsigned && itemsize(dtype) >= 4) return wrapped(a) + sign + wrapped(b);
    const std::string u = itemsize(dtype) == 8 ? target_.unsigned_types[3] : target_.unsigned_types[2];
    return "(" + t + ")((" + u + ")" + wrapped(a) + sign + "(" + u + ")" + wrapped(b) + ")";
}

std::string CEmitter::min_max(Opcode op, DType dtype, const std::string& a, const std::string& b) {
    const bool smaller = op == Opcode::Min || op == Opcode::Fmin;
    std::string test = a + (smaller ? " < " : " > ") + b;
    if (is_float(dtype)) {
        const std::string& loses = op == Opcode::Fmin || op == Opcode::Fmax ? b : a;
        test += " || " + loses + " != " + loses;
    }
    return test + " ? " + a + " : " + b;
}

/// Whether the operation keeps low bits of that operand alone, the other one being a constant: as & 63 and % 64 do.
bool CEmitter::masks(const Instr& in, int operand) const {
    const Instr* other = ir::definition(kernel_, in.operands[1 - operand]);
    if (!other || other->op != Opcode::Const || !is_integer(other->scalar.dtype)) return false;
    return std::has_single_bit(other->scalar.u + (in.op == Opcode::And ? 1 : 0));
}

/// `x`, of which the compiler cannot tell that it is a multiple of a counter.
std::string CEmitter::hidden(DType dtype, const std::string& x) const {
    const std::string t = c_type(target_, dtype);
    return "(" + t + ")(" + wrapped(x) + " ^ (" + t + ")((long)get_global_id(0) >> 63))";
}

std::string CEmitter::binary(const Instr& in, DType dtype) {
    std::string a = at(in.operands[0]), b = at(in.operands[1]);
    if (features_.hidden_masks && is_integer(dtype) && (in.op == Opcode::And || in.op == Opcode::Rem || in.op == Opcode::Fmod)) {
        if (masks(in, 0))
            a = hidden(dtype, a);
        else if (in.op == Opcode::And && masks(in, 1))
            b = hidden(dtype, b);
    }
    const std::string x = wrapped(a), y = wrapped(b);
    switch (in.op) {
        case Opcode::Add:
        case Opcode::Sub:
        case Opcode::Mul:
            if (dtype == DType::Bool) return x + (in.op == Opcode::Add ? " | " : in.op == Opcode::Sub ? " ^ " : " & ") + y;
            if (is_float(dtype)) return rounded(dtype, x + operator_of(in.op) + y);
            if (indices_[in.operands[0]] && indices_[in.operands[1]]) return x + operator_of(in.op) + y;
            return wrapping(operator_of(in.op), dtype, a, b);
        case Opcode::Div: return rounded(dtype, x + " / " + y);
        case Opcode::FloorDiv: return rounded(dtype, helpers_.use("floor_divide", dtype) + "(" + a + ", " + b + ")");
        case Opcode::Rem: return rounded(dtype, helpers_.use("remainder", dtype) + "(" + a + ", " + b + ")");
        case Opcode::Fmod:
            if (is_integer(dtype)) return helpers_.use("fmod", dtype) + "(" + a + ", " + b + ")";
            return rounded(dtype, function("fmod", dtype) + "(" + a + ", " + b + ")");
        case Opcode::And:
        case Opcode::Or:
        case Opcode::Xor: {
            const std::string value = x + operator_of(in.op) + y;
            return itemsize(dtype) < 4 && dtype != DType::Bool ? "(" + c_type(target_, dtype) + ")(" + value + ")" : value;
        }
        case Opcode::Shl: return helpers_.use("shift_left", dtype) + "(" + a + ", " + b + ")";
        case Opcode::Shr: return helpers_.use("shift_right", dtype) + "(" + a + ", " + b + ")";
        case Opcode::Eq:
        case Opcode::Ne:
        case Opcode::Lt:
        case Opcode::Le:
        case Opcode::Gt:
        case Opcode::Ge: return x + operator_of(in.op) + y;
        default: throw Error(ErrorCode::Internal, std::string("emit_c: unknown operation ") + ir::name(in.op));
    }
}

std::string CEmitter::call(const Instr& in, DType dtype) {
    if (const auto pair = sines_.find(in.results[0]); pair != sines_.end()) return sine_and_cosine(in, pair->second, dtype);
    if (dtype == DType::Float16 && in.math == ir::Math::nextafter)
        return helpers_.use("nextafter", dtype) + "(" + at(in.operands[0]) + ", " + at(in.operands[1]) + ")";
    std::string text = function(ir::name(in.math), dtype);
    text += '(';
    for (int k = 0; k < in.operands.size(); ++k) {
        if (k) text += ", ";
        text += at(in.operands[k]);
    }
    return rounded(dtype, text + ")");
}

std::string CEmitter::cast(const std::string& x, DType from, DType to) {
    if (from == to) return x;
    const std::string t = c_type(target_, to);
    if (to == DType::Bool) return wrapped(x) + " != 0";
    if (is_float(from)) {
        if (to == DType::Float16) {
            if (from == DType::Float32) return rounded(to, x);
            helpers_.use("f16", to);
            return "f16_to_f32(" + helpers_.use("f64_to_f16", to) + "(" + x + "))";
        }
        if (is_float(to)) return from == DType::Float16 && to == DType::Float32 ? x : "(" + t + ")" + wrapped(x);
        const DType real = from == DType::Float16 ? DType::Float32 : from;
        if (to == DType::Int64) return helpers_.use("to_i64", real) + "(" + x + ")";
        if (to == DType::UInt64) return helpers_.use("to_u64", real) + "(" + x + ")";
        if (to == DType::Int32) return helpers_.use("to_i32", real) + "(" + x + ")";
        return "(" + t + ")" + helpers_.use(to == DType::UInt32 ? "to_i64" : "to_i32", real) + "(" + x + ")";
    }
    if (to == DType::Float16) return rounded(to, "(float)" + wrapped(x));
    if (features_.hidden_masks && is_integer(from) && is_integer(to) && itemsize(to) < std::min(itemsize(from), 4))
        return "(" + t + ")" + hidden(from, x);
    if (from == DType::Int64 && to == DType::Float64 && features_.split_longs) return helpers_.use("from_i64", to) + "(" + x + ")";
    return "(" + t + ")" + wrapped(x);
}

std::string CEmitter::bitcast(const std::string& x, DType from, DType to) {
    std::string bits = x;
    if (from == DType::Float16) {
        helpers_.use("f16", from);
        bits = "f32_to_f16(" + x + ")";
    } else if (is_float(from)) {
        bits = std::string(from == DType::Float32 ? target_.bits_of_f32 : target_.bits_of_f64) + "(" + x + ")";
    }
    if (to == DType::Bool) return "(" + bits + ") != 0";
    if (to == DType::Float16) {
        helpers_.use("f16", to);
        return "f16_to_f32((" + std::string(target_.unsigned_types[1]) + ")" + wrapped(bits) + ")";
    }
    if (is_float(to)) return std::string(to == DType::Float32 ? target_.f32_from_bits : target_.f64_from_bits) + "(" + bits + ")";
    return "(" + c_type(target_, to) + ")" + wrapped(bits);
}

void CEmitter::arithmetic(const Instr& in) {
    const Value result = in.results[0];
    const DType dtype = type(result), from = type(in.operands[0]);
    const std::string& x = at(in.operands[0]);
    std::string value;
    switch (in.op) {
        case Opcode::Neg: value = is_float(dtype) ? "-" + wrapped(x) : wrapping(" - ", dtype, "0", x); break;
        case Opcode::Not: value = dtype == DType::Bool ? "!" + wrapped(x) : "(" + c_type(target_, dtype) + ")~" + wrapped(x); break;
        case Opcode::Abs:
            if (features_.masked_abs && (dtype == DType::Float32 || dtype == DType::Float16)) {
                value = std::string(target_.f32_from_bits) + "(" + target_.bits_of_f32 + "(" + x + ") & 0x7fffffff)";
            } else if (is_float(dtype)) {
                value = function("fabs", dtype) + "(" + x + ")";
            } else {
                value = kind_of(dtype) == DKind::Signed ? wrapped(x) + " < 0 ? " + wrapping(" - ", dtype, "0", x) + " : " + wrapped(x) : x;
            }
            break;
        case Opcode::Fma:
            value = function("fma", dtype) + "(" + x + ", " + at(in.operands[1]) + ", " + at(in.operands[2]) + ")";
            value = rounded(dtype, value);
            break;
        case Opcode::Min:
        case Opcode::Max:
        case Opcode::Fmin:
        case Opcode::Fmax: {
            const std::string a = named(in.operands[0]), b = named(in.operands[1]);
            value = min_max(in.op, dtype, a, b);
            break;
        }
        case Opcode::Select: value = wrapped(x) + " ? " + wrapped(at(in.operands[1])) + " : " + wrapped(at(in.operands[2])); break;
        case Opcode::Cast: value = cast(x, from, dtype); break;
        case Opcode::Bitcast: value = bitcast(x, from, dtype); break;
        case Opcode::Call: value = call(in, dtype); break;
        case Opcode::Complex:
        case Opcode::Real:
        case Opcode::Imag:
        case Opcode::Wrap:
        case Opcode::Inside: throw Error(ErrorCode::Internal, "emit_c: complex values and checks must be lowered first");
        default: value = binary(in, dtype); break;
    }
    define(result, value, true);
}

// ---- memory ----------------------------------------------------------------------------------------------------------------------

void CEmitter::load(const Instr& in) {
    const DType dtype = type(in.results[0]);
    std::string value = at(in.operands[0]) + "[" + at(in.operands[1]) + "]";
    if (dtype == DType::Bool) value += " != 0";
    if (dtype == DType::Float16) {
        helpers_.use("f16", dtype);
        value = "f16_to_f32(" + value + ")";
    }
    const Value v = in.results[0];
    const bool movable = stores_ <= 1 && !fixed_[v] && uses_.once_nearby(v);
    if (movable && value.size() < longest_expression) {
        text_[v] = value;
    } else {
        declare(v, value);
    }
}

// ---- regions ---------------------------------------------------------------------------------------------------------------------

/// Assigns what the region yields, as if all at once.
void CEmitter::yields(const Instr& in, const std::vector<std::string>& targets) {
    std::vector<std::string> values;
    for (const Value v : in.operands) values.push_back(at(v));
    for (std::size_t k = 0; k < targets.size(); ++k) {
        if (values[k] == targets[k]) continue;
        bool read_later = false;
        for (std::size_t j = k + 1; j < targets.size(); ++j) read_later |= values[j].find(targets[k]) != std::string::npos;
        if (!read_later) continue;
        for (std::size_t j = k; j < targets.size(); ++j) {
            const std::string name = fresh("t");
            line("const " + c_type(target_, type(in.operands[static_cast<int>(j)])) + " " + name + " = " + values[j] + ";");
            values[j] = name;
        }
        break;
    }
    for (std::size_t k = 0; k < targets.size(); ++k) {
        if (values[k] != targets[k]) line(targets[k] + " = " + values[k] + ";");
    }
}

const ir::Instr* CEmitter::yield_of(const ir::Region& region) const {
    if (region.body.empty()) return nullptr;
    const Instr& last = kernel_.instrs[region.body.back()];
    return last.op == Opcode::Yield ? &last : nullptr;
}

/// What the k-th name that a loop carries begins with; its first argument is one of `first` before these. One whose value another name
/// takes over begins, for compilers that need that, as a value which might differ between items.
std::string CEmitter::start_of(const ir::Region& loop, int first, int k, Value initial) const {
    const std::string start = at(initial);
    const Instr* yield = yield_of(loop);
    if (!features_.own_starts || !yield || kernel_.rank == 0 || type(initial) == DType::Float16) return start;
    const Value own = loop.args[first + k];
    bool passed_on = false;
    for (int j = 0; j < yield->operands.size(); ++j) passed_on = passed_on || (j != k && yield->operands[j] == own);
    if (!passed_on) return start;
    const std::string item = "(long)get_global_id(0)";  // of which the compiler does not know that it is not negative
    if (type(initial) == DType::Bool) return item + " < 0 ? !" + wrapped(start) + " : " + wrapped(start);
    return item + " < 0 ? (" + c_type(target_, type(initial)) + ")" + item + " : " + wrapped(start);
}

void CEmitter::serial_loop(const Instr& in) {
    const ir::Region& region = kernel_.regions[in.regions[0]];
    std::vector<std::string> carried;
    for (int k = 0; k < in.results.size(); ++k) {
        const std::string name = fresh("a");
        line(c_type(target_, type(in.results[k])) + " " + name + " = " + start_of(region, 1, k, in.operands[3 + k]) + ";");
        text_[region.args[1 + k]] = name;
        text_[in.results[k]] = name;
        carried.push_back(name);
    }
    const std::string index = fresh("k"), t = c_type(target_, DType::Int64);
    const std::string &upper = at(in.operands[1]), &step = at(in.operands[2]);
    text_[region.args[0]] = index;
    const bool constant_step = !step.empty() && step.find_first_not_of("-0123456789") == std::string::npos;
    std::string test = index + " < " + wrapped(upper);
    if (constant_step && step[0] == '-') test = index + " > " + wrapped(upper);
    // Steps of the array engine count upwards; those of the user's loops may be anything.
    const bool any_direction = kernel_.files.size() > 1 || !indices_[in.operands[2]];
    if (!constant_step && any_direction)
        test = "(" + wrapped(step) + " > 0 ? " + index + " < " + wrapped(upper) + " : " + index + " > " + wrapped(upper) + ")";
    if (in.unroll > 1) out_ += std::string(target_.unroll) + " " + std::to_string(in.unroll) + "\n";
    line("for (" + t + " " + index + " = " + at(in.operands[0]) + "; " + test + "; " + index + " += " + step + ") {");
    ++depth_;
    body(region, &in);
    if (const Instr* yield = yield_of(region)) yields(*yield, carried);
    --depth_;
    line("}");
}

void CEmitter::branch(const Instr& in) {
    if (!features_.conditional_barriers) refuse_barrier(in);
    std::vector<std::string> results;
    for (const Value v : in.results) {
        const std::string name = fresh("v");
        line(c_type(target_, type(v)) + " " + name + ";");
        text_[v] = name;
        results.push_back(name);
    }
    line("if (" + at(in.operands[0]) + ") {");
    for (int k = 0; k < 2; ++k) {
        const ir::Region& region = kernel_.regions[in.regions[k]];
        if (k == 1) {
            if (region.body.size() <= 1 && results.empty()) break;
            line("} else {");
        }
        ++depth_;
        body(region, &in);
        if (const Instr* yield = yield_of(region)) yields(*yield, results);
        --depth_;
    }
    line("}");
}

void CEmitter::while_loop(const Instr& in) {
    const ir::Region &condition = kernel_.regions[in.regions[0]], &loop = kernel_.regions[in.regions[1]];
    std::vector<std::string> carried;
    for (int k = 0; k < in.results.size(); ++k) {
        const std::string name = fresh("a");
        line(c_type(target_, type(in.results[k])) + " " + name + " = " + start_of(loop, 0, k, in.operands[k]) + ";");
        text_[condition.args[k]] = text_[loop.args[k]] = text_[in.results[k]] = name;
        carried.push_back(name);
    }
    line("for (;;) {");
    ++depth_;
    body(condition, &in);
    if (const Instr* yield = yield_of(condition)) line("if (!(" + at(yield->operands[0]) + ")) break;");
    body(loop, &in);
    if (const Instr* yield = yield_of(loop)) yields(*yield, carried);
    --depth_;
    line("}");
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)
