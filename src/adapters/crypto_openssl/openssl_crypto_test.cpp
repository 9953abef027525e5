#include "adapters/crypto_openssl/openssl_crypto.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "base/files.h"
#include "base/text.h"

namespace lavant::adapters {
namespace {

class OpensslCryptoTest : public testing::Test {
 protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "lavant-crypto-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { EXPECT_TRUE(remove_tree(folder_)); }
    std::string key_file() const { return folder_ + "/sub/secret.key"; }
    std::unique_ptr<OpensslCrypto> load() {
        auto crypto = OpensslCrypto::load(key_file());
        EXPECT_TRUE(crypto) << crypto.error().message;
        return std::move(crypto).value();
    }
    std::string folder_;
};

TEST_F(OpensslCryptoTest, MakesAPrivateKeyFileOnceAndKeepsIt) {
    const std::string first = load()->secret();
    struct stat found {};
    ASSERT_EQ(::stat(key_file().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
    EXPECT_EQ(first.size(), 32U);
    EXPECT_EQ(load()->secret(), first);
    EXPECT_EQ(list_directory(folder_ + "/sub").value().size(), 1U);
}

TEST_F(OpensslCryptoTest, RefusesAKeyFileThatOthersMayReadOrThatIsTruncated) {
    load();
    ASSERT_EQ(::chmod(key_file().c_str(), 0644), 0);
    const auto open_to_all = OpensslCrypto::load(key_file());
    ASSERT_FALSE(open_to_all);
    EXPECT_EQ(open_to_all.error().code, ErrorCode::PermissionDenied);
    ASSERT_TRUE(write_file_atomically(key_file(), "short", 0600));
    const auto truncated = OpensslCrypto::load(key_file());
    ASSERT_FALSE(truncated);
    EXPECT_EQ(truncated.error().code, ErrorCode::InvalidArgument);
}

TEST_F(OpensslCryptoTest, KnowsThePublishedDigests) {
    const auto crypto = load();
    EXPECT_EQ(to_hex(crypto->sha256("abc")),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(to_hex(crypto->sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(to_hex(crypto->md5("abc")), "900150983cd24fb0d6963f7d28e17f72");
    EXPECT_EQ(to_hex(crypto->hmac_sha256("key", "The quick brown fox jumps over the lazy dog")),
              "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8");
    EXPECT_EQ(to_hex(crypto->hmac_sha256("", "")),
              "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST_F(OpensslCryptoTest, OpensWhatItSealedAndNothingElse) {
    const auto crypto = load();
    for (const std::string& plain : {std::string(), std::string("s3cret"), std::string(100'000, '\x7f')}) {
        const std::string sealed = crypto->seal(plain, "connection:1");
        EXPECT_NE(sealed, crypto->seal(plain, "connection:1"));
        EXPECT_EQ(crypto->open(sealed, "connection:1").value(), plain);
        EXPECT_FALSE(crypto->open(sealed, "connection:2"));
        EXPECT_FALSE(crypto->open(sealed.substr(0, sealed.size() - 1), "connection:1"));
        EXPECT_FALSE(crypto->open("", "connection:1"));
        for (const std::size_t at : {std::size_t{0}, std::size_t{5}, sealed.size() / 2, sealed.size() - 1}) {
            std::string changed = sealed;
            changed[at] = static_cast<char>(changed[at] ^ 1);
            EXPECT_FALSE(crypto->open(changed, "connection:1")) << at;
        }
    }
}

TEST_F(OpensslCryptoTest, ComparesAndDrawsRandomBytes) {
    const auto crypto = load();
    EXPECT_TRUE(crypto->equal_in_constant_time("", ""));
    EXPECT_TRUE(crypto->equal_in_constant_time("abc", "abc"));
    EXPECT_FALSE(crypto->equal_in_constant_time("abc", "abd"));
    EXPECT_FALSE(crypto->equal_in_constant_time("abc", "ab"));
    EXPECT_EQ(crypto->random_bytes(0), "");
    EXPECT_EQ(crypto->random_bytes(48).size(), 48U);
    EXPECT_NE(crypto->random_bytes(16), crypto->random_bytes(16));
}

}  // namespace
}  // namespace lavant::adapters
