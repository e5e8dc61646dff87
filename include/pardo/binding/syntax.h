// include/pardo/binding/syntax.h: a Python function as plain data: what is left of its syntax tree once names of modules are resolved.
// For pardo's own bindings: no stability.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <pardo/dtype.h>
#include <pardo/error.h>
#include <pardo/export.h>

namespace pardo::syntax {

/// Statements and expressions. What is in `name`, `number`, `index` and `parts` is said at each.
enum class Form : std::uint8_t {
    // statements
    Block,    // parts: statements
    Assign,   // parts: target, value; target: Name, Subscript, Attribute, Tuple of targets
    Augment,  // name: operator; parts: target, value
    For,      // parts: target, start, stop, step, body, else; over a range of integers; index: 1 for prange
    Each,     // parts: target, iterable, body, else; over a tuple or the first axis of an array
    While,    // parts: test, body, else
    If,       // parts: test, body, else
    Break,
    Continue,
    Return,   // parts: the value, if any
    Discard,  // parts: an expression whose value is not used
    Assert,   // name: the message; parts: test
    Raise,    // name: the exception's class and message
    // expressions
    Number,     // number
    Text,       // name
    None,       // Python's None
    DTypeName,  // index: a DType
    Name,       // name: a variable of the function
    Tuple,      // parts
    Attribute,  // name; parts: object
    Subscript,  // parts: object, indices
    Slice,      // parts: start, stop, step; None where it is left out
    Unary,      // name: operator; parts
    Binary,     // name: operator; parts
    And,        // parts
    Or,         // parts
    Compare,    // names: operators, separated by spaces, in `name`; parts: one more
    Choice,     // parts: test, value, other
    Call,  // name: a function that the language knows; parts: arguments, keywords at the end; index: of `struct` which class + 1, or -1 of
           // a named tuple
    Keyword,       // name; parts: value
    Method,        // name; parts: object, arguments; index: the callee + 1 that takes these, where the object is an array
    FunctionName,  // index: which of the function's callees; or `name`: one that the language knows
    Apply,         // name: the function's text, if it is an expression; parts: the function, arguments
    Star,          // parts: a tuple whose items are arguments
    Named,         // name := value; parts: target, value
    List,          // parts: numbers; index: 1 for a set
    Outside,       // index: which of the function's numbers from outside
};

/// Lines count from 1, columns from 0, as in Python's ast.
struct Place {
    int line = 0, column = 0, end_line = 0, end_column = 0;
};

struct Tree {
    Form form = Form::Block;
    Place place;
    std::string name;
    Scalar number;
    int index = 0;
    std::vector<Tree> parts;
};

struct Function;

/// Guards what changes although it is shared; taken for moments only. A fork finds it at rest.
PARDO_API std::mutex& shared_lock();

/// A number from outside of a function that has changed, so that launches read it: its value, which may change, and its type, which stays.
class Outside {
public:
    Outside(std::string as_named, const Scalar& value) : name(std::move(as_named)), dtype(value.dtype), weak(value.weak), value_(value) {}
    const std::string name;  // as the user calls it
    const DType dtype;
    const bool weak;
    bool takes(const Scalar& value) const { return value.dtype == dtype && value.weak == weak; }
    Scalar value() const {
        const std::lock_guard locked(shared_lock());
        return value_;
    }
    /// Numbers that change together, as those of a tuple do, each of which takes its value; no thread reads some of them before.
    static void put(const std::vector<std::pair<Outside*, Scalar>>& values) {
        const std::lock_guard locked(shared_lock());
        for (const auto& [number, value] : values) number->value_ = value;
    }
    static std::vector<Scalar> values(const std::vector<std::shared_ptr<const Outside>>& numbers) {
        const std::lock_guard locked(shared_lock());
        std::vector<Scalar> out;
        out.reserve(numbers.size());
        for (const auto& number : numbers) out.push_back(number->value_);
        return out;
    }

private:
    Scalar value_;
};

/// A function that a class has.
struct Member {
    enum class Kind : std::uint8_t {
        Method,  // its first parameter is the struct
        Static,
        Property,
        Refused,
    };
    Kind kind = Kind::Method;
    std::shared_ptr<const Function> function;  // null: it is not accepted in a kernel; `code` and `problem` say why
    ErrorCode code = ErrorCode::Type;
    std::string problem;
};

/// A class of structs; `number` tells it from others. Its functions may make structs of it, so they come later, and anew when something
/// that they use has changed.
class Class : public std::enable_shared_from_this<Class> {  // nanobind then hands out the one owner that weak references follow
public:
    using Members = std::map<std::string, Member>;
    explicit Class(int its_number) : number(its_number) {}
    const int number;
    std::shared_ptr<const Members> members() const {
        const std::lock_guard locked(shared_lock());
        return members_;
    }
    void set(std::shared_ptr<const Members> members) {
        const std::lock_guard locked(shared_lock());
        members_ = std::move(members);
    }

private:
    std::shared_ptr<const Members> members_ = std::make_shared<const Members>();
};

/// One Python function. Immutable once it is shared.
struct Function {
    std::string name, file;
    int first_line = 1;               // of `lines`
    std::vector<std::string> lines;   // its text, for messages
    std::vector<std::string> params;  // names
    std::string rest;                 // takes further arguments as a tuple; empty if nothing does
    std::vector<Tree> defaults;       // of the last parameters
    Tree body;                        // a Block
    std::vector<std::shared_ptr<const Function>> callees;
    std::vector<std::weak_ptr<const Class>> classes;        // of the structs that it makes; the package keeps them
    std::vector<std::shared_ptr<const Outside>> outside{};  // numbers that launches read
    bool library = false;                                   // not the user's: what is wrong in it is told where the user calls it
};

}  // namespace pardo::syntax
