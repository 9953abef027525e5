#include <gtest/gtest.h>

#include "adapters/crypto_openssl/openssl_crypto.h"
#include "base/text.h"

namespace lavant::adapters {
namespace {

class SigningKeyTest : public testing::Test {
 protected:
    std::unique_ptr<OpensslCrypto> crypto_ = OpensslCrypto::without_key_file().value();
};

TEST_F(SigningKeyTest, TheSameSeedGivesTheSameKey) {
    const auto one = crypto_->derive_signing_key("seed");
    const auto again = OpensslCrypto::without_key_file().value()->derive_signing_key("seed");
    EXPECT_EQ(one->public_point(), again->public_point());
    EXPECT_EQ(one->public_point().size(), 64U);
    EXPECT_NE(one->public_point(), crypto_->derive_signing_key("seed2")->public_point());
}

TEST_F(SigningKeyTest, VerifiesWhatItSignedAndNothingElse) {
    const auto key = crypto_->derive_signing_key("seed");
    for (int i = 0; i < 64; ++i) {  // numbers with leading zeros among them
        const std::string text = "message " + std::to_string(i);
        const std::string signature = key->sign(text);
        ASSERT_EQ(signature.size(), 64U);
        EXPECT_TRUE(key->verify(text, signature));
        EXPECT_FALSE(key->verify(text + "!", signature));
    }
    const std::string signature = key->sign("a");
    EXPECT_FALSE(crypto_->derive_signing_key("other")->verify("a", signature));
    for (std::size_t i = 0; i < signature.size(); ++i) {
        std::string changed = signature;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_FALSE(key->verify("a", changed)) << i;
    }
}

TEST_F(SigningKeyTest, RefusesSignaturesThatAreNone) {
    const auto key = crypto_->derive_signing_key("seed");
    EXPECT_FALSE(key->verify("a", ""));
    EXPECT_FALSE(key->verify("a", std::string(64, '\0')));  // r = s = 0 once opened every door
    EXPECT_FALSE(key->verify("a", std::string(64, '\xff')));
    EXPECT_FALSE(key->verify("a", key->sign("a") + "x"));
    EXPECT_FALSE(key->verify("a", key->sign("a").substr(1)));
    EXPECT_TRUE(key->verify("", key->sign("")));
}

}  // namespace
}  // namespace lavant::adapters
