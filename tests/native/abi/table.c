/* tests/native/abi/table.c: leads to every struct of c_api.h; abidw reads their layout from what a compiler says of it for debuggers. */
#include <pardo/c_api.h>

const pardo_api* pardo_abi(const pardo_api* table);
const pardo_api* pardo_abi(const pardo_api* table) { return table; }
