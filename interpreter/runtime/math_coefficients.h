// Minimax polynomials, lowest coefficient first. Written by tests/tools/minimax.py: change that, not this.
// "error" is the largest error of the polynomial alone, relative to the function unless the text says else.
#pragma once

namespace tercet::coefficient {

/// exp(r) = 1 + r + r^2 q(r); error 2^-28.23.
inline constexpr double exp_f32[] = {0x1.fffffc0000000p-2, 0x1.5554900000000p-3, 0x1.5558a00000000p-5, 0x1.123ab60000000p-7, 0x1.6a5fdc0000000p-10};
/// exp(r) = 1 + r + r^2 q(r); error 2^-57.88.
inline constexpr double exp_f64[] = {0x1.000000000000ap-1, 0x1.5555555555500p-3, 0x1.555555555069ep-5, 0x1.1111111126380p-7, 0x1.6c16c18480fb1p-10, 0x1.a01a013280325p-13, 0x1.a019993e20840p-16, 0x1.71df13345e19dp-19, 0x1.28ae1f153c702p-22, 0x1.ad9c0fa4d1dc4p-26};
/// expm1(r) = r + r^2 q(r); error 2^-31.04.
inline constexpr double expm1_f32[] = {0x1.0000000000000p-1, 0x1.5555560000000p-3, 0x1.5554f00000000p-5, 0x1.110fdc0000000p-7, 0x1.6d437a0000000p-10, 0x1.a29d0c0000000p-13};
/// expm1(r) = r + r^2 q(r); error 2^-61.65.
inline constexpr double expm1_f64[] = {0x1.0000000000000p-1, 0x1.5555555555559p-3, 0x1.5555555555558p-5, 0x1.111111110f64ap-7, 0x1.6c16c16c14f58p-10, 0x1.a01a01b00a43ap-13, 0x1.a01a01addce63p-16, 0x1.71ddf7fa54a55p-19, 0x1.27e4cb00dcfaep-22, 0x1.af5f55fa904cfp-26, 0x1.1f8dd640f6c82p-29};
/// 2^r = 1 + r q(r); error 2^-27.9.
inline constexpr double exp2_f32[] = {0x1.62e4300000000p-1, 0x1.ebfbd60000000p-3, 0x1.c6af740000000p-5, 0x1.3b31fe0000000p-7, 0x1.5f0cce0000000p-10, 0x1.3ec1180000000p-13};
/// 2^r = 1 + r q(r); error 2^-57.33.
inline constexpr double exp2_f64[] = {0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5a5p-3, 0x1.c6b08d704a129p-5, 0x1.3b2ab6fb9ff7dp-7, 0x1.5d87fe789f714p-10, 0x1.4309130f2564cp-13, 0x1.ffcbfc61b163ap-17, 0x1.62bfc6e504cadp-20, 0x1.b5252d92c0611p-24, 0x1.e61c85a50240ap-28, 0x1.e9624002669d7p-32};
/// 2^r = 1 + r q(r), in f64 for f32 results; error 2^-34.31.
inline constexpr double exp2_f32_wide[] = {0x1.62e42ff0e45bbp-1, 0x1.ebfbe07855b51p-3, 0x1.c6b08abbddb90p-5, 0x1.3b29f2cd7fe57p-7, 0x1.5d8a88f8d3cebp-10, 0x1.445d36f2c993cp-13, 0x1.fde49bf675c2ep-17};
/// log(1+f) = f - f^2/2 + f^3 q(f); error 2^-27.34.
inline constexpr double log_f32[] = {0x1.5555540000000p-2, -0x1.0002280000000p-2, 0x1.99a0200000000p-3, -0x1.5472040000000p-3, 0x1.22d8820000000p-3, -0x1.0d86ba0000000p-3, 0x1.0565380000000p-3, -0x1.38c16c0000000p-4};
/// R = z q(z) of log(1+f) = f - f^2/2 + s (f^2/2 + R); error 2^-59.47.
inline constexpr double log_f64[] = {0x1.5555555555593p-1, 0x1.999999997fabep-2, 0x1.249249421806ap-2, 0x1.c71c51eb2c620p-3, 0x1.746644f1c4becp-3, 0x1.39a1210954e44p-3, 0x1.2f0b67b8a7b2ap-3};
/// log2(1+f) = s q(z), in f64 for f32 results; error 2^-37.25.
inline constexpr double log2_f32_wide[] = {0x1.71547652beea8p+1, 0x1.ec709d1202546p-1, 0x1.27778078e1e96p-1, 0x1.a58d47feda1f5p-2, 0x1.5cecdc19e2570p-2};
/// atanh(s) = s (1 + z/3 + z^2 q(z)); error 2^-66.28.
inline constexpr double log_tail_f64[] = {0x1.9999999999b31p-3, 0x1.2492492457b69p-3, 0x1.c71c722d94766p-4, 0x1.745ce9d2c85d0p-4, 0x1.3b1eef2a124dcp-4, 0x1.0f7f9de42ccbap-4, 0x1.0e45855e837d4p-4};
/// sin(r) = r + r^3 q(r^2); error 2^-58.01.
inline constexpr double sin_f64[] = {-0x1.5555555555549p-3, 0x1.111111110f8a6p-7, -0x1.a01a019c1608ep-13, 0x1.71de357afc555p-19, -0x1.ae5e6879950a9p-26, 0x1.5d9396375c1efp-33};
/// cos(r) = 1 - r^2/2 + r^4 q(r^2); error 2^-63.93.
inline constexpr double cos_f64[] = {0x1.555555555554bp-5, -0x1.6c16c16c15019p-10, 0x1.a01a019c8fb1fp-16, -0x1.27e4f7f201022p-22, 0x1.1ee9dc1b61f52p-29, -0x1.8fa6aaa347b73p-37};
/// sin(r) = r + r^3 q(r^2), in f64 for f32 results; error 2^-37.57.
inline constexpr double sin_f32_wide[] = {-0x1.5555554cb81a6p-3, 0x1.1111089528f29p-7, -0x1.a00f9cd0cbfcdp-13, 0x1.6cd8287079d96p-19};
/// cos(r) = 1 - r^2/2 + r^4 q(r^2), in f64 for f32 results; error 2^-33.01.
inline constexpr double cos_f32_wide[] = {0x1.55554a0e486c8p-5, -0x1.6c0c31e3d3580p-10, 0x1.99eb1ff7ea563p-16};
/// atan(t) = t + t^3 q(t^2), |t| <= 1/2; error 2^-31.78.
inline constexpr double atan_f32[] = {-0x1.5555520000000p-2, 0x1.9997460000000p-3, -0x1.2450600000000p-3, 0x1.c075720000000p-4, -0x1.4817300000000p-4, 0x1.3feb460000000p-5};
/// atan(t) = t + t^3 q(t^2), |t| <= 1/2; error 2^-57.8.
inline constexpr double atan_f64[] = {-0x1.5555555555517p-2, 0x1.99999999912b0p-3, -0x1.249249216397cp-3, 0x1.c71c70924a203p-4, -0x1.745cf4e294ab0p-4, 0x1.3b113e9ca82d2p-4, -0x1.10f322df9cbc2p-4, 0x1.dfe96fe6d717ap-5, -0x1.a3975c3170f59p-5, 0x1.56f09c5ce5a1cp-5, -0x1.c168c2988cf49p-6, 0x1.4b5b8f96c3863p-7};
/// atan(t) = t + t^3 q(t^2), |t| <= 1/2, in f64 for f32 results; error 2^-36.27.
inline constexpr double atan_f32_wide[] = {-0x1.55555510753f9p-2, 0x1.99996147b040ap-3, -0x1.248a767d3b1abp-3, 0x1.c61259c2501c0p-4, -0x1.6abf812add20ep-4, 0x1.0873a96c6deedp-4, -0x1.ea6868fe65b58p-6};
/// asin(t) = t + t^3 q(t^2), |t| <= 1/2; error 2^-31.67.
inline constexpr double asin_f32[] = {0x1.55554c0000000p-3, 0x1.3338a20000000p-4, 0x1.6ca9cc0000000p-5, 0x1.04b86a0000000p-5, 0x1.d6f7580000000p-7, 0x1.340e640000000p-5};
/// asin(t) = t + t^3 q(t^2), |t| <= 1/2; error 2^-59.82.
inline constexpr double asin_f64[] = {0x1.5555555555578p-3, 0x1.333333332df1bp-4, 0x1.6db6db722b0f6p-5, 0x1.f1c71a8bc157dp-6, 0x1.6e8bdfe2435f5p-6, 0x1.1c49de528b25ep-6, 0x1.ca213c848b324p-7, 0x1.7577cdc531cacp-7, 0x1.61894ca30869cp-7, 0x1.e170fe6397f5ap-9, 0x1.64fb5ee662427p-6, -0x1.59ed1be37936dp-6, 0x1.0be1756e507b4p-5};
/// sinh(r) = r + r^3 q(r^2); error 2^-34.14.
inline constexpr double sinh_f32[] = {0x1.5555560000000p-3, 0x1.110fe00000000p-7, 0x1.a293be0000000p-13};
/// cosh(r) = 1 + r^2 q(r^2); error 2^-33.18.
inline constexpr double cosh_f32[] = {0x1.0000000000000p-1, 0x1.5554e40000000p-5, 0x1.6d515a0000000p-10};
/// sinh(r) = r + r^3 q(r^2); error 2^-64.82.
inline constexpr double sinh_f64[] = {0x1.5555555555555p-3, 0x1.111111111130fp-7, 0x1.a01a019f0f9c9p-13, 0x1.71de3e4a1c6aap-19, 0x1.ae564c89e6241p-26, 0x1.743dc759098a7p-33};
/// cosh(r) = 1 + r^2 q(r^2); error 2^-70.0.
inline constexpr double cosh_f64[] = {0x1.0000000000000p-1, 0x1.5555555555558p-5, 0x1.6c16c16c15006p-10, 0x1.a01a01ad79dbbp-16, 0x1.27e4cc1ec8e1ep-22, 0x1.1f8bc4b14292dp-29};
/// tanh(x) = x + x^3 q(x^2), |x| < 0.906; error 2^-29.75.
inline constexpr double tanh_f32[] = {-0x1.55554e0000000p-2, 0x1.110f340000000p-3, -0x1.b9c9480000000p-5, 0x1.62e66e0000000p-6, -0x1.0e9f6a0000000p-7, 0x1.519d600000000p-9, -0x1.da6f980000000p-12};
/// exp(2r) = 1 + r q(r), relative to exp(2r) + 1; error 2^-28.81.
inline constexpr double exp_double_f32[] = {0x1.0000000000000p+1, 0x1.fffff80000000p+0, 0x1.55548a0000000p+0, 0x1.555b220000000p-1, 0x1.123e380000000p-2, 0x1.68d9fe0000000p-4};
/// (1+d)^(-1/3) = 1 + d q(d); error 2^-21.61.
inline constexpr double cbrt_f32[] = {-0x1.55526c0000000p-2, 0x1.c7123a0000000p-3, -0x1.676afa0000000p-3, 0x1.2d357e0000000p-3};
/// (1+d)^(-1/3) = 1 + d q(d); error 2^-29.81.
inline constexpr double cbrt_f64[] = {-0x1.555558e257dd9p-2, 0x1.c71c836efe8e9p-3, -0x1.61ec59df4dd51p-3, 0x1.26e65da57369ep-3, -0x1.05d16d4cbf76dp-3, 0x1.d478ddfd9c7eep-4};
/// erf(x) = x + x q(x^2), |x| <= 1; error 2^-29.52.
inline constexpr double erf_f32[] = {0x1.06eba80000000p-3, -0x1.8127400000000p-2, 0x1.ce2d520000000p-4, -0x1.b7fec20000000p-6, 0x1.542fc80000000p-8, -0x1.a517dc0000000p-11, 0x1.4c56b60000000p-14};
/// erf(x) = x + x q(x^2), |x| <= 1; error 2^-56.16.
inline constexpr double erf_f64[] = {0x1.06eba8214db69p-3, -0x1.812746b037a06p-2, 0x1.ce2f21a04402dp-4, -0x1.b82ce312eb456p-6, 0x1.565bcd1f5b910p-8, -0x1.c02db7a8d719cp-11, 0x1.f9a3ae145afd8p-14, -0x1.f4dfdf4e48428p-17, 0x1.badb9cd3fe7e6p-20, -0x1.6bcd874f62bf7p-23, 0x1.6f4a0a5b9f942p-26, -0x1.b97109a767531p-28, 0x1.802762e60b303p-29, -0x1.cc690c67602e8p-31, 0x1.f977ccaae4429p-34};
/// log(erfc(1+d)), 0 <= d <= 3; error 2^-26.91.
inline constexpr double log_erfc_f32[] = {-0x1.d97fc00000000p+0, -0x1.51c9a60000000p+1, -0x1.afacea0000000p-1, -0x1.543ce40000000p-5, 0x1.477ca80000000p-7, -0x1.01922c0000000p-9, 0x1.19db1e0000000p-12, -0x1.303b060000000p-16};
/// exp(x^2) erfc(x) (1+2x), t = (x-k)/(x+k); error 2^-55.26.
inline constexpr double erfcx_f64[] = {0x1.3ba5916e9fd7fp+0, -0x1.1df1ad154a28ep-3, 0x1.f7f5df66fc9c6p-7, 0x1.16ecefcfa5390p-4, -0x1.9ddb23c3e4bb8p-4, 0x1.7fee004e11b69p-4, -0x1.0fb06dfe983dep-4, 0x1.3079edf6b19a9p-5, -0x1.096238789466dp-6, 0x1.49c6726f75561p-8, -0x1.8d4aa3796bc1ep-11, -0x1.a1df0d9c0ce35p-13, 0x1.3be0d0b390504p-13, -0x1.995d09732891fp-16, -0x1.789ada22e8140p-17, 0x1.7f5901ced30b4p-18, 0x1.3d6fab598c93fp-22, -0x1.be27b117f4513p-21, 0x1.40c4f2dac5ff5p-24, 0x1.f866f7cf7c947p-24, -0x1.6281c4f2e9b24p-26, -0x1.4fe5699598be5p-26, 0x1.4dbbc886a979cp-28, 0x1.9b3701fd6a1d4p-29, -0x1.3356cc1e43ee2p-30};
/// erfinv(x)/x in w - 2.5, w = -log(1-x^2) < 5; error 2^-26.73.
inline constexpr double erfinv_central[] = {0x1.805c5d1e0493cp+0, 0x1.f91e8c2d0f6bap-3, -0x1.11c4e079a5b6ep-8, -0x1.48678c9bda2d4p-10, 0x1.c9e59baf6f574p-13, -0x1.4c39541631d17p-18, -0x1.d0adcc1180de0p-19, 0x1.f190d64aba4b6p-22, 0x1.8e522a28e666cp-26, -0x1.2732ba670e53cp-27};
/// erfinv(x)/x in sqrt(w) - 3, 5 <= w < 16; error 2^-25.3.
inline constexpr double erfinv_tail_f32[] = {0x1.6a9efbe166937p+1, 0x1.006dc5f037b1ap+0, 0x1.35802b93b3c9ap-7, -0x1.f48eefada0fbap-8, 0x1.74b7ff161339fp-8, -0x1.d72d8a88207e5p-9, 0x1.854b8bad9a13dp-10, -0x1.fe1768c3477b7p-15, -0x1.44f1ed36d895cp-12, 0x1.ee767dd24e12fp-14};
/// erfinv(x)/x in sqrt(w) - 3, 5 <= w < 38; error 2^-25.46.
inline constexpr double erfinv_tail_f64[] = {0x1.6a9efbe1c33b9p+1, 0x1.006dce01c930ep+0, 0x1.35801aa9e40eap-7, -0x1.f529aef225efbp-8, 0x1.74e62431613d5p-8, -0x1.d0ca5fb249a4ep-9, 0x1.7e572195042a4p-10, -0x1.47cdc7cff1195p-13, -0x1.f00c457e6237dp-13, 0x1.6cd4fd1d75ff9p-13, -0x1.fec698589be8cp-15, 0x1.902011e2a858fp-17, -0x1.35bd0fa4eaab6p-20, 0x1.371dd7624a26ep-26, 0x1.00e77899bac8ap-28};
/// lgamma(2+t) = t q(t), |t| <= 1/2; error 2^-56.48.
inline constexpr double lgamma_f64[] = {0x1.b0ee6072093cep-2, 0x1.4a34cc4a60fa6p-2, -0x1.13e001a55759fp-4, 0x1.51322ac7d8744p-6, -0x1.e404fc21b215bp-8, 0x1.7add6ead69d7bp-9, -0x1.38ac5c1695ab8p-10, 0x1.0b36afa768115p-11, -0x1.d3fd5af76ef3bp-13, 0x1.a127a09d4cd7cp-14, -0x1.78db6685b7d24p-15, 0x1.581042fcbe2eap-16, -0x1.3d1d8012c924ep-17, 0x1.255c8162edc65p-18, -0x1.09dc144db7f4ep-19, 0x1.03d983a1d4adbp-20, -0x1.54df81557fbdbp-21, 0x1.8a9f49b9c2c0cp-23, 0x1.f02065fcfb3a8p-23, 0x1.54c7c99a8b964p-24, -0x1.2bd229167a739p-22};
/// x (lgamma(x) - (x-1/2) log x + x - log(2 pi)/2) in 1/x^2, x >= 8; error 2^-60.59.
inline constexpr double stirling_f64[] = {0x1.5555555555555p-4, -0x1.6c16c16c1075fp-9, 0x1.a01a015b41a30p-11, -0x1.38132dffb2170p-11, 0x1.b91df40b17c73p-11, -0x1.ede250d6d473ep-10, 0x1.402aa9ba36967p-8, 0x1.cbc4cfeebf39ap-10};

}  // namespace tercet::coefficient
