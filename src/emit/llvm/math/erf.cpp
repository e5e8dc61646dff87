// src/emit/llvm/math/erf.cpp: erf of doubles from tables, where each lane can look up values in two registers (AVX-512): a third of
// the multiplications of the polynomials that other targets take (ir/math/erf.cpp), below 1 ulp too. For |x| in cell k, of 16 whose middles
// are multiples of their width, erf(|x|) = E + u S(u) with u = |x| - C; in the first one + |x|, with E = C = 0, since what is small would
// lose bits otherwise. C is at the lower end of the cell, in the second one inside, where S is 1; it is chosen so that its erf is a
// double within 1 % of an ulp, after S. Gal, "Computing elementary functions: an approach for achieving high accuracy and good performance"
// (1986). The coefficients were fitted for this file by least squares of errors in ulp, with 60 digits; what they leave is 0.1 ulp.
#include "emit/llvm/math/erf.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "emit/llvm/math/library.h"
#include "ir/math/terms.h"

namespace pardo::emit {
namespace {

/// Arithmetic on doubles, free of fast-math flags, for formulas.
class Doubles {
public:
    Doubles(Codegen& g, llvm::Type* type) : b_(g.b), type_(type), guard_(g.b) { b_.clearFastMathFlags(); }
    llvm::Value* operator()(double v) const { return llvm::ConstantFP::get(type_, v); }
    llvm::Value* fma(llvm::Value* a, llvm::Value* b, llvm::Value* c) const {
        return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {a, b, c});
    }
    /// c - a b
    llvm::Value* less(llvm::Value* c, llvm::Value* a, llvm::Value* b) const { return fma(b_.CreateFNeg(a), b, c); }
    llvm::Value* polynomial(llvm::Value* x, llvm::ArrayRef<double> terms) const {
        llvm::Value* sum = (*this)(terms.back());
        for (double c : llvm::reverse(terms.drop_back())) sum = fma(sum, x, (*this)(c));
        return sum;
    }

private:
    llvm::IRBuilder<>& b_;
    llvm::Type* type_;
    llvm::IRBuilder<>::FastMathFlagGuard guard_;
};

constexpr int cells = 16;
constexpr double cell_width = 0.384, erf_end = 5.95;  // erf is 1 beyond
// clang-format off
// C, E, and the coefficients of S, lowest power first: a row for each, a column for each cell
constexpr double erf_table[][cells] = {
    {0.0, 0.2649819850921631, 0.5759838223457336, 0.9599736928939819, 1.343965470790863, 1.7279830574989319, 2.1119919419288635, 2.495986521244049, 2.879975199699402, 3.263984203338623, 3.647975444793701, 4.031988024711609, 4.4145355224609375, 4.7989959716796875, 5.18096923828125, 5.56756591796875},
    {0.0, 0.2921469901528366, 0.5846781521511406, 0.8254118384632835, 0.9426526782558917, 0.9854639843208088, 0.9971809296585197, 0.9995842172234324, 0.9999535686340745, 0.9999960873790206, 0.9999997517493652, 0.9999999881654181, 0.9999999995710066, 0.9999999999885356, 0.9999999999997646, 0.9999999999999966},
    {0.1283791670955126, 1.0518671101770563, 0.8097942094772339, 0.44898434715699603, 0.1853589712205913, 0.0569749711981364, 0.013040078205631916, 0.00222240246545946, 0.0002820362601364577, 2.664762200254812e-05, 1.8749236710196537e-06, 9.821123747181966e-08, 3.880345706053785e-09, 1.1233018122367117e-10, 2.4827677202687376e-12, 3.87611176629408e-14},
    {-6.256141369615912e-15, -0.27872583490786496, -0.46642836408903143, -0.4310131617912763, -0.24911605702163503, -0.0984517849321116, -0.02754054009241724, -0.005547086598528611, -0.0008122574346193005, -8.69774172784464e-05, -6.8396755161174035e-06, -3.959865346703685e-07, -1.712993985814498e-08, -5.390855304422658e-10, -1.286546227301274e-11, -2.028798371334661e-13},
    {-0.3761263890309647, -0.30138415337192, -0.09082794177157501, 0.12617941531682153, 0.16141592882099431, 0.09442368717762582, 0.034430239765749104, 0.00848950143046356, 0.001465508758698393, 0.00018037940367644965, 1.6009004461151008e-05, 1.0316716062275373e-06, 4.9120946967999664e-08, 1.6877586562743312e-09, 4.3691522351221876e-11, 2.670750189075622e-13},
    {-5.522990732251121e-11, 0.13283929724720941, 0.18163383218693024, 0.0831065954510929, -0.02543003139815294, -0.04876400464746377, -0.027178014438297666, -0.00874581162770444, -0.0018395619716431019, -0.0002653852988994437, -2.6920338549064982e-05, -1.947848976581014e-06, -1.0272474540089871e-07, -3.879973733060132e-09, -1.105196914142217e-10, 8.945864889431113e-12},
    {0.11283791863230695, 0.07633523772024378, -0.014598845761606315, -0.06976590363782095, -0.03475395083146597, 0.005378251607907993, 0.012630827029840672, 0.006184919331649544, 0.0016795046546788008, 0.0002923717091807446, 3.447923025142233e-05, 2.8319866811419424e-06, 1.6680067598846196e-07, 7.064413341099535e-09, 2.3575180456202013e-10, -1.3990134778963844e-10},
    {-4.0586591700682856e-08, -0.04216629858987306, -0.045633152897498655, 0.0001629567975817525, 0.02235078112649562, 0.009905797872200773, -0.0016445977432190569, -0.002813592283594667, -0.0011217620035893579, -0.00024733126763424804, -3.474804699428137e-05, -3.286783206960835e-06, -2.1920942095437317e-07, -1.125007995354522e-08, -5.339832448122232e-10, 1.2209268768009148e-09},
    {-0.026865624557310962, -0.014982692320919718, 0.010988449080441309, 0.01656443149171536, -0.00030828472320550886, -0.0061704044936099255, -0.002014941978989519, 0.0005337567371470208, 0.0005231675534862251, 0.00016105411389494005, 2.800993084860755e-05, 3.1120738807488647e-06, 2.428767299313022e-07, 1.8958656069108976e-08, 1.5488675523796045e-09, -7.010733468961044e-09},
    {-4.771146843918445e-06, 0.01002808461705988, 0.008181163561000734, -0.004001025665940069, -0.004682809617357953, 0.0005391968434489468, 0.0014162408936189618, 0.00027050699910421337, -0.00013632947916130016, -7.848863008363526e-05, -1.8108120470957334e-05, -2.4317162213498155e-06, -2.423381489092351e-07, -3.853238606130268e-08, -4.677927906759642e-09, 2.7150604256538422e-08},
    {0.0052507526880861705, 0.0023242051514083856, -0.0031285125425273117, -0.0023995064465925455, 0.0014467601980003284, 0.001005903746802925, -0.00027249478320396747, -0.0002561625114659345, -1.4411568493979535e-05, 2.585268881156664e-05, 9.261684319997993e-06, 1.5680948664124405e-06, 2.3735563755610583e-07, 7.753105249333827e-08, 1.1054190824524683e-08, -7.016176362012803e-08},
    {-9.154182216658728e-05, -0.001913415400951977, -0.0012319269147591523, 0.0012460155391294293, 0.0004747583366017116, -0.0004745585919705502, -0.0001383408623916259, 8.534098821537141e-05, 3.250264665930866e-05, -3.47546419658536e-06, -3.6000681866006934e-06, -8.153727531204607e-07, -2.240685659527601e-07, -1.1679234518031972e-07, -1.751667401769636e-08, 1.1593828645628705e-07},
    {-0.0006909629877929326, -0.00027019283801894687, 0.0008663668430290376, 6.985884719216254e-05, -0.0004083118237080361, 3.091277436815581e-05, 0.00010217155741084001, -5.191563120849003e-06, -1.4888787774002634e-05, -1.3659721493623772e-06, 9.659341437163519e-07, 3.135842228306785e-07, 1.6278925393030948e-07, 1.0715217917397018e-07, 1.629365799357504e-08, -1.1079189869800842e-07},
    {-7.437322723797944e-05, 0.0002900922065453416, -0.00011959313135298068, -0.00012302207921874105, 8.259841812802877e-05, 2.45973167359168e-05, -2.24576728318495e-05, -3.711432837869223e-06, 2.899909952446046e-06, 6.444447310397726e-07, -1.3672386458210527e-07, -6.718546890151934e-08, -5.996836493178501e-08, -4.400873920454604e-08, -6.702947654162909e-09, 4.657059596188905e-08},
};
// clang-format on
constexpr std::size_t rows = std::size(erf_table), first_term = 2;

/// What each lane finds in its cell's column.
llvm::Value* erf_entry(Codegen& g, std::size_t row, llvm::Value* cell) {
    auto* type = llvm::FixedVectorType::get(g.b.getDoubleTy(), cells / 2);
    llvm::Value* halves[2];
    for (int half = 0; half < 2; ++half) {
        const std::string name = "erf." + std::to_string(row) + (half ? ".high" : ".low");
        llvm::GlobalVariable* kept = g.module->getNamedGlobal(name);
        if (!kept) {  // not said to be constant, as in emit/llvm/constants.cpp
            const llvm::ArrayRef<double> numbers(erf_table[row] + half * cells / 2, cells / 2);
            kept = new llvm::GlobalVariable(*g.module, type, false, llvm::GlobalValue::PrivateLinkage,
                                            llvm::ConstantDataVector::get(g.b.getContext(), numbers), name);
            kept->setAlignment(llvm::Align(64));
        }
        llvm::LoadInst* loaded = g.b.CreateAlignedLoad(type, kept, llvm::Align(64));
        loaded->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(g.b.getContext(), {}));
        halves[half] = loaded;
    }
    return g.b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_pd_512, {}, {halves[0], cell, halves[1]});
}

llvm::Value* erf_of_eight(Codegen& g, llvm::Value* x) {
    const Doubles d(g, x->getType());
    llvm::Value* size = g.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    size = g.b.CreateSelect(g.b.CreateFCmpOLT(d(erf_end), size), d(erf_end), size);     // NaN stays
    llvm::Value* shifted = d.fma(size, d(1 / cell_width), d(ir::math::whole_shifter));  // the nearest whole number is in the low bits
    llvm::Value* cell = g.b.CreateBitCast(shifted, widened(g.b.getInt64Ty(), cells / 2));
    llvm::Value* u = g.b.CreateFSub(size, erf_entry(g, 0, cell));
    llvm::Value* sum = erf_entry(g, rows - 1, cell);
    for (std::size_t row = rows - 2; row >= first_term; --row) sum = d.fma(sum, u, erf_entry(g, row, cell));
    llvm::Value* result = d.fma(sum, u, erf_entry(g, 1, cell));
    result = g.b.CreateSelect(g.b.CreateFCmpOEQ(shifted, d(ir::math::whole_shifter)), g.b.CreateFAdd(result, size), result);
    return g.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
}

}  // namespace

llvm::Value* inline_erf(Codegen& g, llvm::Value* x) {
    constexpr int lanes = cells / 2;
    if (width(x) > 1) return in_chunks(g, lanes, {x}, [&](llvm::ArrayRef<llvm::Value*> part) { return erf_of_eight(g, part[0]); });
    return g.b.CreateExtractElement(erf_of_eight(g, g.b.CreateVectorSplat(lanes, x)), std::uint64_t(0));
}

}  // namespace pardo::emit
