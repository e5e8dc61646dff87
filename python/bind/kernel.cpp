// python/bind/kernel.cpp: pardo/kernel.h and pardo/syntax.h for Python: trees from tuples, launches.
#include <nanobind/stl/shared_ptr.h>

#include <pardo/kernel.h>
#include <pardo/syntax.h>

#include "bind.h"

namespace bind {
namespace {

namespace syntax = pardo::syntax;
using pardo::KernelArgument;

using FunctionPtr = std::shared_ptr<syntax::Function>;
using List = nb::typed<nb::list, nb::any>;
using Tuple = nb::typed<nb::tuple, nb::any, nb::ellipsis>;

/// (form, line, column, end line, end column, name, number, index, parts); see python/pardo/_syntax.py.
syntax::Tree tree_from(nb::handle o) {
    const auto t = nb::borrow<nb::tuple>(o);
    syntax::Tree tree;
    tree.form = static_cast<syntax::Form>(nb::cast<int>(t[0]));
    tree.place = {nb::cast<int>(t[1]), nb::cast<int>(t[2]), nb::cast<int>(t[3]), nb::cast<int>(t[4])};
    tree.name = nb::cast<std::string>(t[5]);
    if (!nb::handle(t[6]).is_none()) {
        const auto scalar = scalar_from(nb::handle(t[6]).ptr());
        if (!scalar) throw pardo::Error(pardo::ErrorCode::Type, "a number is expected, not " + class_name(t[6]));
        tree.number = *scalar;
    }
    tree.index = nb::cast<int>(t[7]);
    for (nb::handle part : nb::borrow<nb::list>(t[8])) tree.parts.push_back(tree_from(part));
    return tree;
}

/// The Python classes whose instances are arguments of their own kind; set by the package.
PyObject *local_class = nullptr, *constant_class = nullptr;

KernelArgument argument_from(nb::handle o, const char* who, std::size_t k) {
    KernelArgument a;
    if (is_array(o.ptr())) {
        a.kind = KernelArgument::Kind::Array;
        a.array = array_of(o.ptr());
        return a;
    }
    if (const auto scalar = scalar_from(o.ptr())) {
        a.scalar = *scalar;
        return a;
    }
    if (local_class && PyObject_IsInstance(o.ptr(), local_class) == 1) {
        a.kind = KernelArgument::Kind::Local;
        a.dtype = dtype_from(nb::object(o.attr("dtype")).ptr());
        a.extents = nb::cast<Ints>(o.attr("shape"));
        return a;
    }
    if (constant_class && PyObject_IsInstance(o.ptr(), constant_class) == 1) {
        const auto scalar = scalar_from(nb::object(o.attr("value")).ptr());
        if (!scalar) throw pardo::Error(pardo::ErrorCode::Type, std::string(who) + ": a constant is a number");
        a.kind = KernelArgument::Kind::Constant;
        a.scalar = *scalar;
        return a;
    }
    const std::string place = std::string(who) + ": argument " + std::to_string(k);
    if (is_numpy_array(o.ptr()))
        throw pardo::Error(pardo::ErrorCode::Type, place +
                                                       " is a NumPy array, and data does not move by itself; pass pardo.asarray(x), or "
                                                       "launch inside `with pardo.device_context(...)`");
    throw pardo::Error(pardo::ErrorCode::Type, place + ": an array or a number is expected, not " + class_name(o));
}

std::vector<KernelArgument> arguments_from(nb::handle list, const char* who) {
    std::vector<KernelArgument> out;
    const auto given = nb::borrow<nb::tuple>(list);
    out.reserve(given.size());
    for (nb::handle o : given) out.push_back(argument_from(o, who, out.size()));
    return out;
}

const pardo::Queue* queue_from(nb::handle o) {
    if (o.is_none()) return nullptr;
    pardo::Queue* queue = nullptr;
    if (!nb::try_cast<pardo::Queue*>(o, queue) || !queue)
        throw pardo::Error(pardo::ErrorCode::Type, "queue: a pardo.Queue is expected, not " + class_name(o));
    return queue;
}

}  // namespace

void bind_kernel(nb::module_& m) {
    m.def(
        "_dtype_number", [](nb::handle o) { return static_cast<int>(dtype_from(o.ptr())); }, nb::arg("dtype"));
    m.def(
        "_set_argument_classes",
        [](nb::handle local, nb::handle constant) {
            local_class = local.inc_ref().ptr();
            constant_class = constant.inc_ref().ptr();
        },
        nb::arg("local"), nb::arg("constant"));

    nb::class_<syntax::Function>(m, "_Function", "A function's syntax as the compiler takes it.")
        .def(nb::new_([](std::string name, std::string file, int first_line, std::vector<std::string> lines,
                         std::vector<std::string> params, List defaults, nb::object body, List callees) {
                 auto f = std::make_shared<syntax::Function>();
                 f->name = std::move(name);
                 f->file = std::move(file);
                 f->first_line = first_line;
                 f->lines = std::move(lines);
                 f->params = std::move(params);
                 for (nb::handle d : defaults) f->defaults.push_back(tree_from(d));
                 f->body = tree_from(body);
                 for (nb::handle c : callees) f->callees.push_back(nb::cast<FunctionPtr>(c));
                 return f;
             }),
             nb::arg("name"), nb::arg("file"), nb::arg("first_line"), nb::arg("lines"), nb::arg("params"), nb::arg("defaults"),
             nb::arg("body"), nb::arg("callees"))
        .def_prop_ro("name", [](const syntax::Function& f) { return f.name; });

    nb::class_<pardo::NdRange>(m, "_Space", "An index space.")
        .def(
            "__init__",
            [](pardo::NdRange* self, Ints global, Ints local) {
                new (self) pardo::NdRange{std::move(global), std::move(local)};
            },
            nb::arg("range"), nb::arg("local"));

    nb::class_<pardo::Kernel>(m, "_Kernel", "A function of the user, and its programs.")
        .def(
            "__init__",
            [](pardo::Kernel* self, FunctionPtr function, bool takes_item, bool fast_math, bool bounds_check) {
                new (self) pardo::Kernel(std::move(function), takes_item, {fast_math, bounds_check});
            },
            nb::arg("function"), nb::arg("takes_item"), nb::arg("fast_math"), nb::arg("bounds_check"))
        .def(
            "launch",
            [](const pardo::Kernel& k, Tuple arguments, const pardo::NdRange& range, nb::handle queue, nb::handle depends,
               const char* who) {
                const std::vector<KernelArgument> given = arguments_from(arguments, who);
                const pardo::Queue* on = queue_from(queue);
                const std::vector<pardo::Event> after = depends.is_none() ? std::vector<pardo::Event>() : depends_from(depends, who);
                const Unlocked unlocked;
                return k.launch(given, range, on, after);
            },
            nb::arg("arguments"), nb::arg("range"), nb::arg("queue").none(), nb::arg("depends").none(), nb::arg("who"))
        .def(
            "inspect",
            [](const pardo::Kernel& k, Tuple arguments, const pardo::NdRange& range, nb::handle queue, const std::string& what,
               const char* who) {
                const std::vector<KernelArgument> given = arguments_from(arguments, who);
                return k.inspect(given, range, what, queue_from(queue));
            },
            nb::arg("arguments"), nb::arg("range"), nb::arg("queue").none(), nb::arg("what"), nb::arg("who"))
        .def(
            "uses",
            [](const pardo::Kernel& k, Tuple arguments, const pardo::NdRange& range, nb::handle queue, const char* who) {
                std::vector<int> out;
                const std::vector<KernelArgument> given = arguments_from(arguments, who);
                for (const pardo::ArgumentUse u : k.uses(given, range, queue_from(queue))) out.push_back(static_cast<int>(u));
                return out;
            },
            nb::arg("arguments"), nb::arg("range"), nb::arg("queue").none(), nb::arg("who"))
        .def_prop_ro("specialisations", &pardo::Kernel::specialisations);

    nb::class_<pardo::Loop>(m, "_Loop", "A part of a function that runs by itself.")
        .def(
            "__init__",
            [](pardo::Loop* self, FunctionPtr function, int dimensions, std::vector<std::string> results, bool fast_math,
               bool bounds_check) {
                new (self) pardo::Loop(std::move(function), dimensions, std::move(results), {fast_math, bounds_check});
            },
            nb::arg("function"), nb::arg("dimensions"), nb::arg("results"), nb::arg("fast_math"), nb::arg("bounds_check"))
        .def_static(
            "reductions",
            [](const FunctionPtr& function, const std::vector<std::string>& outside) {
                return pardo::Loop::reductions(*function, outside);
            },
            nb::arg("function"), nb::arg("outside"))
        .def(
            "run",
            [](const pardo::Loop& loop, Tuple arguments, const Ints& counts, Tuple initial, nb::handle queue, const char* who) {
                const std::vector<KernelArgument> given = arguments_from(arguments, who);
                std::vector<pardo::Scalar> before;
                for (nb::handle o : initial) {
                    const auto scalar = scalar_from(o.ptr());
                    if (!scalar)
                        throw pardo::Error(pardo::ErrorCode::Type, std::string(who) + ": a loop reduces numbers, not " + class_name(o));
                    before.push_back(*scalar);
                }
                const pardo::Queue* on = queue_from(queue);
                std::vector<pardo::Scalar> results;
                {
                    const Unlocked unlocked;
                    results = loop.run(given, counts, before, on);
                }
                List out;
                for (const pardo::Scalar& s : results) {
                    nb::object value = nb::steal(scalar_to_python(s));
                    if (!s.weak && s.dtype != pardo::DType::Bool) value = dtype_to_python(s.dtype).attr("type")(value);
                    out.append(value);
                }
                return out;
            },
            nb::arg("arguments"), nb::arg("counts"), nb::arg("initial"), nb::arg("queue").none(), nb::arg("who"));
}

}  // namespace bind
