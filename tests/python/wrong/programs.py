# tests/python/wrong/programs.py: programs that are wrong, each in its own way; programs.txt holds what users read.
# Linters would mend them: pyproject.toml lets them be.
import math

import numpy as np
import pardo as pp

TABLE = np.arange(4.0)
NAMES = ["a", "b"]
BIG = 2**70


@pp.func
def half(x):
    if x > 0:
        return x / 2


def again(x):
    return again(x - 1)


def undefined_name(item: pp.Item, x):
    x[item.get_id(0)] = missing


def used_before_assignment(item: pp.Item, x):
    i = item.get_id(0)
    x[i] = total
    total = 1.0


def assigned_in_one_branch(item: pp.Item, x):
    i = item.get_id(0)
    if x[i] > 0:
        y = 1.0
    x[i] = y


def assigned_in_a_loop(item: pp.Item, x):
    i = item.get_id(0)
    for k in range(i):
        y = x[k]
    x[i] = y


def loop_counter_afterwards(item: pp.Item, x):
    i = item.get_id(0)
    for k in range(i):
        x[k] = 0.0
    x[i] = k


def two_types_by_branch(item: pp.Item, x):
    i = item.get_id(0)
    if i > 2:
        y = x[i]
    else:
        y = np.int32(i)
    x[i] = y


def number_or_tuple(item: pp.Item, x):
    i = item.get_id(0)
    y = 1.0
    if i > 2:
        y = (1.0, 2.0)
    x[i] = 0.0


def type_changes_in_a_loop(item: pp.Item, x):
    i = item.get_id(0)
    n = np.int32(0)
    for k in range(4):
        n = n + x[k]
    x[i] = n


def one_array_or_another(item: pp.Item, x, y):
    i = item.get_id(0)
    a = x if i > 3 else y
    a[i] = 1.0


def swapped_arrays(item: pp.Item, x, y):
    i = item.get_id(0)
    for k in range(4):
        y[i] = x[i]
        x, y = y, x


def too_many_indices(item: pp.Item, x):
    x[item.get_id(0), 0] = 1.0


def float_index(item: pp.Item, x):
    i = item.get_id(0)
    x[x[i]] = 1.0


def bool_index(item: pp.Item, x):
    i = item.get_id(0)
    x[i > 2] = 1.0


def array_from_outside(item: pp.Item, x):
    i = item.get_id(0)
    x[i] = TABLE[i]


def list_from_outside(item: pp.Item, x):
    x[item.get_id(0)] = len(NAMES)


def integer_too_large(item: pp.Item, x):
    x[item.get_id(0)] = BIG


def float_into_integers(item: pp.Item, n):
    i = item.get_id(0)
    n[i] = n[i] / 2


def complex_into_floats(item: pp.Item, x):
    x[item.get_id(0)] = 1j


def number_too_large_for_the_dtype(item: pp.Item, b):
    b[item.get_id(0)] = 300


def whole_array_operation(item: pp.Item, x, y):
    x[item.get_id(0)] = x + y


def condition_on_an_array(item: pp.Item, x):
    if x:
        x[0] = 1.0


def compares_an_array(item: pp.Item, x):
    x[item.get_id(0)] = x == 1.0


def order_of_complex(item: pp.Item, z):
    i = item.get_id(0)
    if z[i] < z[0]:
        z[i] = 0


def remainder_of_complex(item: pp.Item, z):
    i = item.get_id(0)
    z[i] = z[i] % 2


def bits_of_floats(item: pp.Item, x):
    i = item.get_id(0)
    x[i] = x[i] & 1


def shift_of_floats(item: pp.Item, x):
    i = item.get_id(0)
    x[i] = x[i] << 1


def inverted_float(item: pp.Item, x):
    i = item.get_id(0)
    x[i] = ~x[i]


def negative_power_of_an_integer(item: pp.Item, n):
    i = item.get_id(0)
    n[i] = n[i] ** -2


def identity_of_numbers(item: pp.Item, x):
    i = item.get_id(0)
    if x[i] is x[0]:
        x[i] = 0.0


def membership(item: pp.Item, x):
    i = item.get_id(0)
    if i in x[i]:
        x[i] = 0.0


def step_of_zero(item: pp.Item, x):
    for k in range(0, 4, 0):
        x[k] = 0.0


def float_range(item: pp.Item, x):
    for k in range(x[0]):
        x[k] = 0.0


def loop_over_a_number(item: pp.Item, x):
    for k in x[0]:
        x[k] = 0.0


def unknown_step_and_break(item: pp.Item, x, n):
    for k in range(0, 4, n[0]):
        if x[k] > 0:
            break


def unpacks_too_many(item: pp.Item, x):
    a, b = 1.0, 2.0, 3.0


def unpacks_a_number(item: pp.Item, x):
    a, b = x[0]


def tuple_by_a_variable(item: pp.Item, x):
    i = item.get_id(0)
    weights = (1.0, x, 3.0)
    x[i] = weights[i]


def tuple_out_of_range(item: pp.Item, x):
    weights = (1.0, 2.0, 3.0)
    x[0] = weights[3]


def tuple_changed(item: pp.Item, x):
    weights = (1.0, 2.0, 3.0)
    weights[0] = x[0]


def returns_a_value(item: pp.Item, x):
    return x[0]


def function_without_a_value_on_one_way(item: pp.Item, x):
    i = item.get_id(0)
    x[i] = half(x[i])


def recursion(item: pp.Item, x):
    i = item.get_id(0)
    x[i] = again(x[i])


def missing_argument(item: pp.Item, x):
    x[0] = math.hypot(x[0])


def missing_argument_of_a_function(item: pp.Item, x):
    x[0] = half()


def unknown_keyword(item: pp.Item, x):
    x[0] = half(y=x[0])


def calls_something_else(item: pp.Item, x):
    x[0] = sorted(x)


def calls_a_number(item: pp.Item, x):
    x[0] = x[1](2)


def unknown_method(item: pp.Item, x):
    x[0] = x[1].clip(0, 1)


def unknown_attribute(item: pp.Item, x):
    x[0] = x.strides[0]


def method_of_an_item(item: pp.Item, x):
    x[item.get_local_id(0)] = 1.0


def no_such_dimension(item: pp.Item, x):
    x[item.get_id(1)] = 1.0


def dimension_by_a_variable(item: pp.Item, x, n):
    x[item.get_id(n[0])] = 1.0


def barrier_without_groups(item: pp.Item, x):
    pp.group_barrier()
    x[0] = 1.0


def local_memory_without_groups(item: pp.Item, x):
    tile = pp.local_array(16)
    x[0] = 1.0


def private_array_of_unknown_shape(item: pp.Item, x, n):
    a = pp.private_array(n[0])
    x[0] = a[0]


def private_array_of_no_elements(item: pp.Item, x):
    a = pp.private_array(0)
    x[0] = 1.0


def atomic_on_a_narrow_dtype(item: pp.Item, b):
    pp.atomic.add(b, 0, 1)


def atomic_bits_of_floats(item: pp.Item, x):
    pp.atomic.and_(x, 0, 1)


def atomic_without_an_array(item: pp.Item, x):
    pp.atomic.add(x[0], 0, 1)


def part_of_an_array_in_place(item: pp.Item, x):
    x[1:3] += 1j


def slice_with_a_variable_step(item: pp.Item, x, n):
    x[:: n[0]] = 0.0


def tuple_of_the_wrong_length(item: pp.Item, x):
    a = pp.private_array(3)
    a[:] = (1.0, 2.0)
    x[0] = a[0]


def list_literal(item: pp.Item, x):
    a = [1.0, (2.0, 3.0)]
    x[0] = a[0]


def comprehension(item: pp.Item, x):
    x[0] = 1.0 if x[0] > 0 else sum(x[k] for k in range(3))


def with_statement(item: pp.Item, x):
    with open("file") as f:
        x[0] = 1.0


def try_statement(item: pp.Item, x):
    try:
        x[0] = 1.0
    except ValueError:
        x[0] = 2.0


def raises_a_number(item: pp.Item, x):
    raise x[0]


def formatted_message(item: pp.Item, x):
    assert x[0] > 0, f"not positive: {x[0]}"


def matrix_product(item: pp.Item, x, y):
    x[0] = x @ y[0]


def any_number_of_arguments(item: pp.Item, *x):
    x[0] = 1.0


def lambda_that_remembers(item: pp.Item, x):
    n = 2
    add = lambda a: a + n
    x[0] = add(x[0])


def lambda_with_a_default(item: pp.Item, x):
    add = lambda a, b=1: a + b
    x[0] = add(x[0])


def wrong_in_a_function_of_pardo(item: pp.Item, x):
    x[0] = pp.random.philox_uniform(x[0], (1,))


def makes_an_ndarray(item: pp.Item, x):
    a = np.ndarray(3)
    x[0] = a[0]


def unknown_keyword_of_an_atomic(item: pp.Item, n):
    pp.atomic.add(n, index=0, by=1)


def keyword_given_twice(item: pp.Item, n):
    pp.atomic.add(n, 0, 1, index=1)


def value_missing_between_keywords(item: pp.Item, n):
    pp.atomic.add(n, value=1)


def int_of_nan(item: pp.Item, x):
    x[0] = int(np.nan)


def barrier_of_an_item(item: pp.Item, x):
    x[item.get_id(0)] = 1.0
    item.barrier()


# ---- syntax that needs an interpreter


def named_where_it_may_not_run(item: pp.Item, x):
    i = item.get_id(0)
    x[i] = (y := x[i]) if i > 2 else 0.0


def named_behind_or(item: pp.Item, x):
    i = item.get_id(0)
    if i > 2 or (y := x[i]) > 0:
        x[i] = 1.0


def dict_literal(item: pp.Item, x):
    names = {0: 1.0}
    x[0] = names[0]


def dict_comprehension(item: pp.Item, x):
    squares = {k: k * k for k in range(3)}
    x[0] = squares[1]


def class_inside(item: pp.Item, x):
    class Pair:
        a = 1

    x[0] = Pair.a


def import_inside(item: pp.Item, x):
    import cmath

    x[0] = 1.0


def import_from_inside(item: pp.Item, x):
    from math import tau

    x[0] = tau


def global_name(item: pp.Item, x):
    global BIG
    x[0] = 1.0


def nonlocal_name():
    total = 0

    def kernel(item: pp.Item, x):
        nonlocal total
        x[0] = 1.0

    return kernel


nonlocal_name = nonlocal_name()


def deleted_name(item: pp.Item, x):
    y = 1.0
    del y
    x[0] = 2.0


def deleted_element(item: pp.Item, x):
    del x[0]


def try_finally(item: pp.Item, x):
    try:
        x[0] = 1.0
    finally:
        x[1] = 2.0


def group_of_exceptions(item: pp.Item, x):
    try:
        x[0] = 1.0
    except* ValueError:
        x[1] = 2.0


def text_with_values(item: pp.Item, x):
    text = f"{x[0]}"
    x[0] = 1.0


def starred_target(item: pp.Item, x):
    a, *b = (1.0, 2.0, 3.0)
    x[0] = a


def starred_name_in_a_call(item: pp.Item, x):
    x[0] = max(*x)


def names_by_double_star(item: pp.Item, x):
    x[0] = half(**TABLE)


def in_place_product(item: pp.Item, x):
    x @= x


def text_stored(item: pp.Item, x):
    x[0] = "one"


def none_stored(item: pp.Item, x):
    x[0] = None


def compares_objects(item: pp.Item, x):
    if x[0] is True:
        x[0] = 1.0


def conjunction_as_a_value(item: pp.Item, x):
    x[0] = x[0] or 1.0


def assertion_with_values(item: pp.Item, x):
    assert x[0] > 0, f"{x[0]}"


def raises_again(item: pp.Item, x):
    if x[0] > 0:
        raise


def function_inside_with_defaults(item: pp.Item, x):
    def add(v, by=x[1]):
        return v + by

    x[0] = add(x[0])


def function_inside_that_remembers(item: pp.Item, x):
    y = x[0]

    def add(v):
        return v + y

    x[0] = add(1.0)


def decorated_function_inside(item: pp.Item, x):
    @pp.func
    def twice(v):
        return 2 * v

    x[0] = twice(x[0])


def attribute_by_a_variable(item: pp.Item, x):
    x[0] = getattr(x, x[0])


# ---- match


def match_a_mapping(item: pp.Item, x):
    match x[0]:
        case {"a": a}:
            x[0] = a


def match_a_class(item: pp.Item, x):
    match x[0]:
        case float():
            x[0] = 1.0


def match_a_sequence(item: pp.Item, x):
    match x:
        case [a, b]:
            x[0] = a


def match_the_rest(item: pp.Item, x):
    match (x[0], x[1], x[2]):
        case (a, *b):
            x[0] = a


def match_another_length(item: pp.Item, x):
    match (x[0], x[1]):
        case (a, b, c):
            x[0] = a


def match_an_object(item: pp.Item, x):
    match x[0]:
        case True:
            x[0] = 1.0


def match_alternatives_that_capture(item: pp.Item, x):
    match (x[0], x[1]):
        case (0, a) | (a, 0):
            x[0] = a


def match_a_tuple_with_a_number(item: pp.Item, x):
    match (x[0], x[1]):
        case 1:
            x[0] = 1.0


# ---- lists, sets, and what is looped over


def list_of_arrays(item: pp.Item, x):
    a = []
    a.append(x)
    x[0] = len(a)


def list_of_two_types(item: pp.Item, x, n):
    a = [n[0]]
    a.append(x[0])
    x[0] = a[0]


def list_by_a_slice(item: pp.Item, x):
    a = [1.0, 2.0, 3.0]
    x[0] = a[1:][0]


def list_plus_list(item: pp.Item, x):
    a = [1.0] + [x[0]]
    x[0] = len(a)


def list_times_a_number(item: pp.Item, x):
    a = [x[0], 1.0] * 3
    x[0] = len(a)


def list_by_a_float(item: pp.Item, x):
    a = [1.0, 2.0]
    x[0] = a[x[0]]


def list_on_one_path(item: pp.Item, x):
    if x[0] > 0:
        a = [1.0]
    else:
        a = [2.0]
    x[0] = a[0]


def unknown_method_of_a_list(item: pp.Item, x):
    a = [2.0, 1.0]
    a.swap(0, 1)
    x[0] = a[0]


def set_by_an_index(item: pp.Item, x):
    a = {1.0, 2.0}
    x[0] = a[0]


def appended_to_a_set(item: pp.Item, x):
    a = {1.0}
    a.append(2.0)
    x[0] = len(a)


def comprehension_in_a_condition(item: pp.Item, x):
    while sum([v for v in x]) < 3:
        x[0] += 1.0


def reversed_pairs(item: pp.Item, x):
    for k, v in reversed(enumerate(x)):
        x[0] = v


def sorted_values(item: pp.Item, x):
    for v in sorted(x):
        x[0] = v


def range_as_a_value(item: pp.Item, x):
    r = range(3)
    x[0] = 1.0


def range_of_floats_beside(item: pp.Item, x):
    for a, b in zip(range(x[0]), x):
        x[0] = b


def range_of_unknown_steps_beside(item: pp.Item, x, n):
    for a, b in zip(range(0, 8, n[0]), x):
        x[0] = b


def indices_of_floats(item: pp.Item, x):
    for i in np.ndindex(x[0]):
        x[0] = 1.0


def tuple_beside_an_array(item: pp.Item, x):
    for a, b in zip((1.0, 2.0), x):
        x[0] = a + b


def type_of_a_value(item: pp.Item, x):
    if isinstance(x[0], float):
        x[0] = 1.0


def map_of_a_function(item: pp.Item, x):
    for v in map(half, x):
        x[0] = v


def opens_a_file(item: pp.Item, x):
    x[0] = open("file")


def array_of_an_array_of_others(item: pp.Item, x):
    x[0] = np.asarray(x)[0]


def many_items_by_a_variable(item: pp.Item, x, n):
    t = (n[0], x[0])
    x[0] = t[n[1]]


def array_in_a_tuple(item: pp.Item, x):
    if x in (1.0, 2.0):
        x[0] = 1.0


def tuple_without_an_index(item: pp.Item, x):
    t = (1.0, 2.0)
    x[0] = t[()]


def calls_a_namesake(item: pp.Item, x):
    x[0] = math.remainder(x[0], 3.0)
