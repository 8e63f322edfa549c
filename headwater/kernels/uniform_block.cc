#include "headwater/kernels/uniform_block.hpp"

#include <algorithm>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/uniform_block.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

// Philox4x32-10 for many particles at once, one in each 64-bit lane. The counters of the particles
// differ only in their second word, and after three rounds all words differ. A word is a scalar as
// long as it is the same for all particles, and then becomes several vectors.
using Lanes = hn::RebindToUnsigned<Doubles>;
using VU = hn::Vec<Lanes>;

// Three vectors, which hide each other's latency and share a round's keys. Only the lower half of
// each lane is significant; the upper half is arbitrary. (Three members, because compilers keep an
// array in memory.)
struct Word {
  VU a;
  VU b;
  VU c;
};
constexpr std::size_t kTogether = 3;

template <class Function, class... Words>
HWY_INLINE Word for_each_vector(Function function, const Words&... words) {
  return {function(words.a...), function(words.b...), function(words.c...)};
}

HWY_INLINE VU product(std::uint32_t multiplier, VU word) {
#if HWY_TARGET == HWY_SCALAR
  const auto value = static_cast<std::uint32_t>(hn::GetLane(word));
  return hn::Set(Lanes(), std::uint64_t{multiplier} * value);
#else
  const hn::Repartition<std::uint32_t, Lanes> d32;
  return hn::MulEven(hn::Set(d32, multiplier), hn::BitCast(d32, word));
#endif
}
HWY_INLINE Word product(std::uint32_t multiplier, const Word& word) {
  return for_each_vector([=](VU w) HWY_ATTR { return product(multiplier, w); }, word);
}
HWY_INLINE std::uint64_t product(std::uint32_t multiplier, std::uint32_t word) {
  return std::uint64_t{multiplier} * word;
}

HWY_INLINE std::uint32_t low(std::uint64_t product) { return static_cast<std::uint32_t>(product); }
HWY_INLINE Word low(const Word& product) { return product; }

HWY_INLINE std::uint32_t high(std::uint64_t product) {
  return static_cast<std::uint32_t>(product >> 32);
}
HWY_INLINE Word high(const Word& product) {
  return for_each_vector([](VU p) HWY_ATTR { return hn::ShiftRight<32>(p); }, product);
}

HWY_INLINE std::uint32_t mix(std::uint32_t a, std::uint32_t b, std::uint32_t key) {
  return a ^ b ^ key;
}
HWY_INLINE Word mix(const Word& a, std::uint32_t b, std::uint32_t key) {
  const VU both = hn::Set(Lanes(), b ^ key);
  return for_each_vector([=](VU w) HWY_ATTR { return hn::Xor(w, both); }, a);
}
HWY_INLINE Word mix(std::uint32_t a, const Word& b, std::uint32_t key) { return mix(b, a, key); }
HWY_INLINE Word mix(const Word& a, const Word& b, std::uint32_t key) {
  const VU keys = hn::Set(Lanes(), key);
  return for_each_vector([=](VU v, VU w) HWY_ATTR { return hn::Xor(v, hn::Xor(w, keys)); }, a, b);
}

// Passes the four words to `then` after the last round. Compilers would return them through memory.
template <int kRounds, class W0, class W1, class W2, class W3, class Then>
HWY_INLINE void after_rounds(const W0& w0, const W1& w1, const W2& w2, const W3& w3,
                             std::uint32_t key0, std::uint32_t key1, const Then& then) {
  if constexpr (kRounds == 0) {
    then(w0, w1, w2, w3);
  } else {
    const auto product0 = product(0xD2511F53, w0);
    const auto product1 = product(0xCD9E8D57, w2);
    after_rounds<kRounds - 1>(mix(high(product1), w1, key0), low(product1),
                              mix(high(product0), w3, key1), low(product0), key0 + 0x9E3779B9,
                              key1 + 0xBB67AE85, then);
  }
}

// to_unit(second << 32 | first). The upper 52 bits n become the fraction of a double in [1, 2),
// which is 1 + n 2^-52. Subtracting 1 - 2^-53 gives (n + 1/2) 2^-52 exactly.
HWY_INLINE hn::Vec<Doubles> to_units(VU first, VU second) {
  const Doubles d;
  const Lanes du;
  const auto low_bits = hn::ShiftRight<12>(hn::And(first, hn::Set(du, 0xFFFFFFFF)));
  const auto bits = hn::Or(hn::ShiftRight<12>(hn::ShiftLeft<32>(second)), low_bits);
  const auto one_and = hn::Or(bits, hn::Set(du, 0x3FF0000000000000));
  return hn::Sub(hn::BitCast(d, one_and), hn::Set(d, 1 - 0x1p-53));
}

// One block of each particle's generator: its first uniform number and, unless `second` is null,
// its second.
void uniform_columns(PhiloxKey key, PhiloxCounter counter, double* first, double* second,
                     std::size_t size) {
  const Doubles d;
  const Lanes du;
  const std::size_t lanes = hn::Lanes(d);
  const auto store_vector = [=](VU low_word, VU high_word, double* to, std::size_t i) HWY_ATTR {
    if (HWY_LIKELY(i + lanes <= size)) {
      hn::StoreU(to_units(low_word, high_word), d, to + i);
    } else if (i < size) {
      store_part(d, to_units(low_word, high_word), to + i, size - i);
    }
  };
  const auto store = [=](const Word& low_word, const Word& high_word, double* to, std::size_t i)
                         HWY_ATTR {
                           store_vector(low_word.a, high_word.a, to, i);
                           store_vector(low_word.b, high_word.b, to, i + lanes);
                           store_vector(low_word.c, high_word.c, to, i + 2 * lanes);
                         };
  const VU step = hn::Set(du, kTogether * lanes);
  Word particles{hn::Iota(du, counter[1]), hn::Iota(du, counter[1] + lanes),
                 hn::Iota(du, counter[1] + 2 * lanes)};
  for (std::size_t i = 0; i < size; i += kTogether * lanes) {
    after_rounds<10>(counter[0], particles, counter[2], counter[3], key[0], key[1],
                     [=](const Word& w0, const Word& w1, const Word& w2, const Word& w3) HWY_ATTR {
                       store(w0, w1, first, i);
                       if (second != nullptr) store(w2, w3, second, i);
                     });
    particles = for_each_vector([=](VU p) HWY_ATTR { return hn::Add(p, step); }, particles);
  }
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(uniform_columns);

void uniform_block(const RandomStream& stream, std::uint64_t time, std::uint32_t first_particle,
                   Purpose purpose, Eigen::Ref<Matrix> out) {
  PhiloxCounter counter = RandomStream::first_counter(time, first_particle, purpose);
  for (Index j = 0; j < out.cols(); j += 2, ++counter[0]) {
    double* second = j + 1 < out.cols() ? out.col(j + 1).data() : nullptr;
    HWY_DYNAMIC_DISPATCH(uniform_columns)
    (stream.key(), counter, out.col(j).data(), second, static_cast<std::size_t>(out.rows()));
  }
}

}  // namespace headwater
#endif
