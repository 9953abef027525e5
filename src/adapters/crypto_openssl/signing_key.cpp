// ES256 over OpenSSL. The private number is derived from the seed, so that no key file of its own has to be
// kept, backed up and guarded beside the one there is.

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/obj_mac.h>
#include <openssl/params.h>

#include <array>
#include <utility>

#include "adapters/crypto_openssl/openssl_crypto.h"
#include "adapters/crypto_openssl/openssl_handles.h"
#include "base/check.h"

namespace lavant::adapters {
namespace {

using namespace openssl;

constexpr std::size_t kNumberBytes = 32;  // of P-256
constexpr std::size_t kPointBytes = 1 + 2 * kNumberBytes;
constexpr std::size_t kDerBytesMax = 72;  // of a signature as OpenSSL writes it

class OpensslSigningKey final : public ports::SigningKey {
 public:
    OpensslSigningKey(Key key, std::string point) : key_(std::move(key)), point_(std::move(point)) {}

    std::string sign(std::string_view bytes) const override {
        const DigestContext context{EVP_MD_CTX_new()};
        std::array<unsigned char, kDerBytesMax> der{};
        std::size_t length = der.size();
        CHECK(
            context &&
                EVP_DigestSignInit_ex(context.get(), nullptr, "SHA256", nullptr, nullptr, key_.get(),
                                      nullptr) == 1 &&
                EVP_DigestSign(context.get(), der.data(), &length, bytes_of(bytes.data()), bytes.size()) == 1,
            "signing in memory cannot fail");
        const unsigned char* at = der.data();
        const Signature parsed{d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(length))};
        CHECK(parsed, "OpenSSL reads the signature it wrote");
        std::string out(2 * kNumberBytes, '\0');
        CHECK(BN_bn2binpad(ECDSA_SIG_get0_r(parsed.get()), bytes_of(out.data()), kNumberBytes) >= 0 &&
                  BN_bn2binpad(ECDSA_SIG_get0_s(parsed.get()), bytes_of(out.data()) + kNumberBytes,
                               kNumberBytes) >= 0,
              "numbers of a P-256 signature have 32 bytes");
        return out;
    }

    bool verify(std::string_view bytes, std::string_view signature) const override {
        if (signature.size() != 2 * kNumberBytes) return false;
        const Signature parsed{ECDSA_SIG_new()};
        Number r{BN_bin2bn(bytes_of(signature.data()), kNumberBytes, nullptr)};
        Number s{BN_bin2bn(bytes_of(signature.data()) + kNumberBytes, kNumberBytes, nullptr)};
        CHECK(parsed && r && s && ECDSA_SIG_set0(parsed.get(), r.get(), s.get()) == 1,
              "a signature takes its numbers");
        (void)r.release();  // the signature owns both now
        (void)s.release();
        std::array<unsigned char, kDerBytesMax> der{};
        unsigned char* at = der.data();
        const int length = i2d_ECDSA_SIG(parsed.get(), &at);
        if (length <= 0) return false;
        const DigestContext context{EVP_MD_CTX_new()};
        CHECK(context && EVP_DigestVerifyInit_ex(context.get(), nullptr, "SHA256", nullptr, nullptr,
                                                 key_.get(), nullptr) == 1,
              "a key can verify");
        return EVP_DigestVerify(context.get(), der.data(), static_cast<std::size_t>(length),
                                bytes_of(bytes.data()), bytes.size()) == 1;
    }

    std::string public_point() const override { return point_.substr(1); }

 private:
    Key key_;
    std::string point_;  // uncompressed: a byte 4, x, y
};

// A number from 1 to the group's order less one. A hash above the order is as good as never met; the next
// one is taken then.
Number derive_number(ports::Crypto& crypto, std::string_view seed, const EC_GROUP* curve) {
    for (char count = 0;; ++count) {
        const std::string bytes = crypto.hmac_sha256(seed, std::string("lavant P-256 key ") + count);
        Number number{BN_bin2bn(bytes_of(bytes.data()), kNumberBytes, nullptr)};
        CHECK(number, "a number of 32 bytes can be made");
        if (BN_is_zero(number.get()) == 0 && BN_cmp(number.get(), EC_GROUP_get0_order(curve)) < 0)
            return number;
    }
}

std::string point_of(const EC_GROUP* curve, const BIGNUM* number) {
    const Point point{EC_POINT_new(curve)};
    std::string out(kPointBytes, '\0');
    CHECK(point && EC_POINT_mul(curve, point.get(), number, nullptr, nullptr, nullptr) == 1 &&
              EC_POINT_point2oct(curve, point.get(), POINT_CONVERSION_UNCOMPRESSED, bytes_of(out.data()),
                                 out.size(), nullptr) == out.size(),
          "a private number has a point");
    return out;
}

}  // namespace

std::unique_ptr<const ports::SigningKey> OpensslCrypto::derive_signing_key(std::string_view seed) {
    const Curve curve{EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)};
    CHECK(curve, "OpenSSL has P-256");
    const Number number = derive_number(*this, seed, curve.get());
    std::string point = point_of(curve.get(), number.get());
    std::array<unsigned char, kNumberBytes> native{};  // parameters are in the machine's byte order
    CHECK(BN_bn2nativepad(number.get(), native.data(), kNumberBytes) >= 0, "the number has 32 bytes");
    std::string name = "prime256v1";
    std::array<OSSL_PARAM, 4> parameters{
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, name.data(), 0),
        OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, native.data(), native.size()),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()),
        OSSL_PARAM_construct_end()};
    const KeyContext context{EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr)};
    EVP_PKEY* made = nullptr;
    CHECK(context && EVP_PKEY_fromdata_init(context.get()) == 1 &&
              EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_KEYPAIR, parameters.data()) == 1,
          "a key can be made of its numbers");
    OPENSSL_cleanse(native.data(), native.size());
    return std::make_unique<OpensslSigningKey>(Key(made), std::move(point));
}

}  // namespace lavant::adapters
