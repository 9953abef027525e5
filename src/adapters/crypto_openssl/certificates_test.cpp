#include "adapters/crypto_openssl/certificates.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "adapters/crypto_openssl/openssl_handles.h"
#include "base/files.h"

namespace lavant::adapters {
namespace {

const Instant kNow = parse_rfc3339("2026-03-01T12:00:00Z").value();
constexpr std::chrono::hours kDay{24};

class CertificatesTest : public testing::Test {
 protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "lavant-tls-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern + "/tls";
    }
    void TearDown() override { EXPECT_TRUE(remove_tree(parent_of(folder_))); }

    CertificateFiles ensure(const std::vector<std::string>& names, Instant now) {
        auto files = ensure_certificates(folder_, names, now);
        EXPECT_TRUE(files) << files.error().message;
        return std::move(files).value();
    }
    static openssl::Certificate load(const std::string& path) {
        const std::string text = read_file(path, 65536).value();
        const openssl::Bio bio{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
        return openssl::Certificate{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)};
    }
    // Verifies as a strict TLS client would.
    static bool verifies(const CertificateFiles& files, Instant at, const std::string& name) {
        using Store = std::unique_ptr<X509_STORE, openssl::Freer<X509_STORE_free>>;
        using Context = std::unique_ptr<X509_STORE_CTX, openssl::Freer<X509_STORE_CTX_free>>;
        const openssl::Certificate authority = load(files.ca_file);
        const openssl::Certificate server = load(files.certificate_file);
        const Store store{X509_STORE_new()};
        X509_STORE_add_cert(store.get(), authority.get());
        const Context context{X509_STORE_CTX_new()};
        X509_STORE_CTX_init(context.get(), store.get(), server.get(), nullptr);
        X509_VERIFY_PARAM* const parameters = X509_STORE_CTX_get0_param(context.get());
        X509_VERIFY_PARAM_set_time(parameters, static_cast<std::time_t>(to_micros(at) / 1'000'000));
        X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_X509_STRICT);
        X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER);
        if (X509_VERIFY_PARAM_set1_ip_asc(parameters, name.c_str()) != 1)
            X509_VERIFY_PARAM_set1_host(parameters, name.c_str(), name.size());
        return X509_verify_cert(context.get()) == 1;
    }
    std::string folder_;
};

TEST_F(CertificatesTest, AClientThatTrustsTheAuthorityTrustsEveryNameOfTheServer) {
    const CertificateFiles files = ensure({"lavant.example.org", "10.1.2.3", "fd00::7"}, kNow);
    EXPECT_TRUE(files.renewed);
    for (const char* name : {"127.0.0.1", "::1", "localhost", "lavant.example.org", "10.1.2.3", "fd00::7"}) {
        EXPECT_TRUE(verifies(files, kNow, name)) << name;
        EXPECT_TRUE(verifies(files, kNow + 89 * kDay, name)) << name;
    }
    EXPECT_FALSE(verifies(files, kNow, "evil.example.org"));
    EXPECT_FALSE(verifies(files, kNow + 91 * kDay, "localhost"));
    for (const std::string& key : {files.key_file, folder_ + "/ca.key"}) {
        struct stat found {};
        ASSERT_EQ(::stat(key.c_str(), &found), 0);
        EXPECT_EQ(found.st_mode & 0777U, 0600U) << key;
    }
}

TEST_F(CertificatesTest, NothingChangesUntilSomethingIsDue) {
    const CertificateFiles first = ensure({"a.example"}, kNow);
    const std::string authority = certificate_fingerprint(first.ca_file).value();
    const std::string server = certificate_fingerprint(first.certificate_file).value();
    EXPECT_FALSE(ensure({"a.example"}, kNow + 59 * kDay).renewed);
    EXPECT_EQ(certificate_fingerprint(first.certificate_file).value(), server);

    EXPECT_TRUE(ensure({"a.example"}, kNow + 61 * kDay).renewed);
    EXPECT_NE(certificate_fingerprint(first.certificate_file).value(), server);
    EXPECT_TRUE(ensure({"a.example", "b.example"}, kNow + 61 * kDay).renewed);
    EXPECT_FALSE(ensure({"b.example", "a.example", "a.example"}, kNow + 61 * kDay).renewed);
    EXPECT_EQ(certificate_fingerprint(first.ca_file).value(), authority);
}

TEST_F(CertificatesTest, AClientOfTheOldAuthorityTrustsWhatTheRenewedOneSigns) {
    CertificateFiles files = ensure({}, kNow);
    const std::string old_authority = read_file(files.ca_file, 65536).value();
    const Instant later = kNow + 3500 * kDay;
    EXPECT_TRUE(ensure({}, later).renewed);
    EXPECT_NE(read_file(files.ca_file, 65536).value(), old_authority);
    EXPECT_TRUE(verifies(files, later, "localhost"));
    ASSERT_TRUE(write_file_atomically(folder_ + "/old.pem", old_authority));
    files.ca_file = folder_ + "/old.pem";
    EXPECT_TRUE(verifies(files, later, "localhost"));
}

TEST_F(CertificatesTest, APowerCutBetweenKeyAndCertificateRepairsItself) {
    const CertificateFiles files = ensure({}, kNow);
    ASSERT_EQ(::unlink(files.certificate_file.c_str()), 0);
    EXPECT_TRUE(ensure({}, kNow).renewed);
    ASSERT_TRUE(write_file_atomically(files.key_file, read_file(folder_ + "/ca.key", 65536).value()));
    EXPECT_TRUE(ensure({}, kNow).renewed);
    ASSERT_TRUE(write_file_atomically(files.certificate_file, "junk"));
    EXPECT_TRUE(ensure({}, kNow).renewed);
    ASSERT_EQ(::unlink(files.ca_file.c_str()), 0);
    EXPECT_TRUE(verifies(ensure({}, kNow), kNow, "localhost"));
}

TEST_F(CertificatesTest, ALostAuthorityKeyIsSaidAndNotReplacedInSilence) {
    ensure({}, kNow);
    ASSERT_EQ(::unlink((folder_ + "/ca.key").c_str()), 0);
    const auto refused = ensure_certificates(folder_, {}, kNow);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Conflict);
    EXPECT_NE(refused.error().message.find("ca.key"), std::string::npos);
}

TEST_F(CertificatesTest, RefusesNamesThatAreNone) {
    for (const std::string& name :
         {std::string(), std::string("a b"), std::string("x,DNS:evil"), std::string(300, 'a')})
        EXPECT_FALSE(ensure_certificates(folder_, {name}, kNow)) << name;
    EXPECT_FALSE(ensure_certificates(folder_, std::vector<std::string>(200, "a.example"), kNow));
}

TEST_F(CertificatesTest, TheFingerprintIsOpensslsOwnSpelling) {
    const CertificateFiles files = ensure({}, kNow);
    const std::string text = certificate_fingerprint(files.ca_file).value();
    EXPECT_EQ(text.size(), 95U);
    EXPECT_EQ(text.find_first_not_of("0123456789ABCDEF:"), std::string::npos);
    EXPECT_FALSE(certificate_fingerprint(files.key_file));
    EXPECT_FALSE(certificate_fingerprint(folder_ + "/absent.pem"));
}

}  // namespace
}  // namespace lavant::adapters
