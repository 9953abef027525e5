#include "adapters/crypto_openssl/certificates.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "adapters/crypto_openssl/openssl_handles.h"
#include "base/check.h"
#include "base/files.h"

namespace lavant::adapters {
namespace {

using namespace openssl;

constexpr std::chrono::hours kDay{24};
constexpr Duration kAuthorityLife = 3650 * kDay;
constexpr Duration kAuthorityRenewal = 200 * kDay;  // above the life of a server certificate
constexpr Duration kServerLife = 90 * kDay;
constexpr Duration kServerRenewal = 30 * kDay;
constexpr Duration kSkew = std::chrono::hours{1};
constexpr std::size_t kPemBytes = 64U << 10;
constexpr std::size_t kNames = 100;

struct Pair {
    Key key;
    Certificate certificate;
};

Error library_error(const std::string& attempted) {
    std::array<char, 256> text{};
    ERR_error_string_n(ERR_get_error(), text.data(), text.size());
    ERR_clear_error();
    return {ErrorCode::Internal, "cannot " + attempted + ": OpenSSL says " + text.data(), {}};
}

std::time_t to_seconds(Instant at) { return static_cast<std::time_t>(to_micros(at) / 1'000'000); }

// --- names ---

std::optional<std::string> address_bytes(const std::string& name) {
    std::array<char, 16> raw{};
    if (::inet_pton(AF_INET, name.c_str(), raw.data()) == 1) return std::string(raw.data(), 4);
    if (::inet_pton(AF_INET6, name.c_str(), raw.data()) == 1) return std::string(raw.data(), 16);
    return std::nullopt;
}

bool is_host_name(const std::string& name) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
               c == '.' || c == '_' || c == '*';
    };
    return !name.empty() && name.size() <= 253 && std::all_of(name.begin(), name.end(), allowed);
}

std::string machine_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return {};
    return name.data();
}

// As they lie in the certificate: "D" and a host name, or "A" and the address's bytes. Sorted, each once.
Result<std::vector<std::string>> wanted_names(const std::vector<std::string>& extra) {
    std::vector<std::string> all = {"127.0.0.1", "::1", "localhost"};
    if (const std::string own = machine_name(); is_host_name(own)) all.push_back(own);
    all.insert(all.end(), extra.begin(), extra.end());
    if (all.size() > kNames)
        return fail(ErrorCode::ResourceExhausted,
                    "a server certificate takes at most " + std::to_string(kNames) + " names: give fewer");
    std::vector<std::string> coded;
    for (const std::string& name : all) {
        if (const auto address = address_bytes(name)) {
            coded.push_back("A" + *address);
            continue;
        }
        if (!is_host_name(name))
            return fail(ErrorCode::InvalidArgument,
                        "cannot put '" + name +
                            "' into the server certificate: it is neither a host name "
                            "nor an address");
        coded.push_back("D" + name);
    }
    std::sort(coded.begin(), coded.end());
    coded.erase(std::unique(coded.begin(), coded.end()), coded.end());
    return coded;
}

std::vector<std::string> names_in(X509* certificate) {
    const Names names{
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr))};
    std::vector<std::string> coded;
    for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
        int kind = 0;
        const auto* value = static_cast<const ASN1_STRING*>(
            GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &kind));
        if (kind != GEN_DNS && kind != GEN_IPADD) continue;
        coded.emplace_back(kind == GEN_DNS ? "D" : "A");
        coded.back().append(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                            static_cast<std::size_t>(ASN1_STRING_length(value)));
    }
    std::sort(coded.begin(), coded.end());
    return coded;
}

bool add_names(X509* certificate, const std::vector<std::string>& coded) {
    const Names names{sk_GENERAL_NAME_new_null()};
    for (const std::string& code : coded) {
        GENERAL_NAME* const name = GENERAL_NAME_new();
        ASN1_STRING* const value = code[0] == 'D' ? ASN1_STRING_type_new(V_ASN1_IA5STRING)
                                                  : ASN1_STRING_type_new(V_ASN1_OCTET_STRING);
        if (name == nullptr || value == nullptr) return false;
        ASN1_STRING_set(value, code.data() + 1, static_cast<int>(code.size() - 1));
        GENERAL_NAME_set0_value(name, code[0] == 'D' ? GEN_DNS : GEN_IPADD, value);
        sk_GENERAL_NAME_push(names.get(), name);
    }
    return X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, 0) == 1;
}

// --- files ---

Certificate read_certificate(const std::string& path) {
    const auto text = read_file(path, kPemBytes);
    if (!text) return nullptr;
    const Bio bio{BIO_new_mem_buf(text->data(), static_cast<int>(text->size()))};
    Certificate certificate{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)};
    ERR_clear_error();
    return certificate;
}

Key read_key(const std::string& path) {
    const auto text = read_file(path, kPemBytes);
    if (!text) return nullptr;
    const Bio bio{BIO_new_mem_buf(text->data(), static_cast<int>(text->size()))};
    // An empty password, so that OpenSSL never asks at the terminal for one.
    std::string password;
    Key key{PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, password.data())};
    ERR_clear_error();
    return key;
}

std::string text_in(BIO* bio) {
    char* start = nullptr;
    const long length = BIO_get_mem_data(bio, &start);
    return {start, static_cast<std::size_t>(length)};
}

// The key first: a certificate is only ever seen together with its key.
Result<void> write_pair(const Pair& pair, const std::string& stem, bool with_key) {
    const Bio key{BIO_new(BIO_s_mem())};
    const Bio certificate{BIO_new(BIO_s_mem())};
    if (PEM_write_bio_PKCS8PrivateKey(key.get(), pair.key.get(), nullptr, nullptr, 0, nullptr, nullptr) !=
            1 ||
        PEM_write_bio_X509(certificate.get(), pair.certificate.get()) != 1)
        return fail(library_error("write '" + stem + ".pem'"));
    if (with_key) LAVANT_TRY_VOID(write_file_atomically(stem + ".key", text_in(key.get()), 0600));
    return write_file_atomically(stem + ".pem", text_in(certificate.get()), 0644);
}

// --- making ---

bool add_extension(X509* certificate, X509* issuer, int nid, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    const Extension extension{X509V3_EXT_conf_nid(nullptr, &context, nid, value)};
    return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool set_serial(X509* certificate) {
    std::array<unsigned char, 16> raw{};
    if (RAND_bytes(raw.data(), raw.size()) != 1) return false;
    raw[0] = static_cast<unsigned char>((raw[0] & 0x7fU) | 0x40U);  // positive, and always 16 bytes
    ASN1_INTEGER* const serial = X509_get_serialNumber(certificate);
    return ASN1_STRING_set(serial, raw.data(), raw.size()) == 1;
}

Certificate make_blank(EVP_PKEY* key, Instant now, Duration life) {
    Certificate certificate{X509_new()};
    X509* const raw = certificate.get();
    if (raw == nullptr || X509_set_version(raw, X509_VERSION_3) != 1 || !set_serial(raw) ||
        X509_set_pubkey(raw, key) != 1 ||
        ASN1_TIME_set(X509_getm_notBefore(raw), to_seconds(now - kSkew)) == nullptr ||
        ASN1_TIME_set(X509_getm_notAfter(raw), to_seconds(now + life)) == nullptr)
        return nullptr;
    return certificate;
}

bool set_name(X509_NAME* name, const std::string& common_name) {
    const auto add = [name](const char* field, const std::string& value) {
        return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, bytes_of(value.data()),
                                          static_cast<int>(value.size()), -1, 0) == 1;
    };
    return add("O", "Lavant") && add("CN", common_name);
}

// With the old key and name where there is one, so that whoever trusts the old certificate trusts what the
// new signs.
Result<Pair> make_authority(Pair old, Instant now) {
    Pair made;
    made.key = old.key ? std::move(old.key) : Key{EVP_EC_gen("P-256")};
    if (!made.key) return fail(library_error("make a key for the certificate authority"));
    made.certificate = make_blank(made.key.get(), now, kAuthorityLife);
    X509* const raw = made.certificate.get();
    if (raw == nullptr) return fail(library_error("make the certificate authority"));
    const bool named =
        old.certificate ? X509_set_subject_name(raw, X509_get_subject_name(old.certificate.get())) == 1
                        : set_name(X509_get_subject_name(raw), "Lavant CA " + machine_name().substr(0, 40));
    if (!named || X509_set_issuer_name(raw, X509_get_subject_name(raw)) != 1 ||
        !add_extension(raw, raw, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
        !add_extension(raw, raw, NID_key_usage, "critical,keyCertSign,cRLSign") ||
        !add_extension(raw, raw, NID_subject_key_identifier, "hash") ||
        X509_sign(raw, made.key.get(), EVP_sha256()) == 0)
        return fail(library_error("make the certificate authority"));
    return made;
}

Result<Pair> make_server(const Pair& authority, const std::vector<std::string>& coded, Instant now) {
    Pair made;
    made.key = Key{EVP_EC_gen("P-256")};
    if (!made.key) return fail(library_error("make a key for the server certificate"));
    made.certificate = make_blank(made.key.get(), now, kServerLife);
    X509* const raw = made.certificate.get();
    X509* const issuer = authority.certificate.get();
    if (raw == nullptr || !set_name(X509_get_subject_name(raw), "Lavant server") ||
        X509_set_issuer_name(raw, X509_get_subject_name(issuer)) != 1 ||
        !add_extension(raw, issuer, NID_basic_constraints, "critical,CA:FALSE") ||
        !add_extension(raw, issuer, NID_key_usage, "critical,digitalSignature") ||
        !add_extension(raw, issuer, NID_ext_key_usage, "serverAuth") ||
        !add_extension(raw, issuer, NID_subject_key_identifier, "hash") ||
        !add_extension(raw, issuer, NID_authority_key_identifier, "keyid") || !add_names(raw, coded) ||
        X509_sign(raw, authority.key.get(), EVP_sha256()) == 0)
        return fail(library_error("make the server certificate"));
    return made;
}

// --- judging ---

bool fits(const Pair& pair) {
    const bool same =
        pair.key && pair.certificate && X509_check_private_key(pair.certificate.get(), pair.key.get()) == 1;
    ERR_clear_error();
    return same;
}

bool lasts(X509* certificate, Instant now, Duration at_least) {
    std::time_t current = to_seconds(now);
    std::time_t later = to_seconds(now + at_least);
    return X509_cmp_time(X509_get0_notBefore(certificate), &current) < 0 &&
           X509_cmp_time(X509_get0_notAfter(certificate), &later) > 0;
}

bool signed_by(X509* certificate, const Pair& authority) {
    const bool good = X509_verify(certificate, authority.key.get()) == 1;
    ERR_clear_error();
    return good;
}

Result<Pair> ensure_authority(const std::string& stem, Instant now) {
    Pair found{read_key(stem + ".key"), read_certificate(stem + ".pem")};
    if (exists(stem + ".pem") && !fits(found))
        return fail(ErrorCode::Conflict,
                    "the certificate authority '" + stem + ".pem' does not fit its key '" + stem +
                        ".key': restore both from a backup, or remove both (every client must "
                        "then trust the new one)");
    if (found.certificate && lasts(found.certificate.get(), now, kAuthorityRenewal)) return found;
    const bool new_key = !found.key;
    LAVANT_TRY(Pair made, make_authority(std::move(found), now));
    LAVANT_TRY_VOID(write_pair(made, stem, new_key));
    return made;
}

}  // namespace

Result<CertificateFiles> ensure_certificates(const std::string& folder, const std::vector<std::string>& names,
                                             Instant now) {
    LAVANT_TRY_VOID(make_directories(folder));
    LAVANT_TRY(const std::vector<std::string> coded, wanted_names(names));
    LAVANT_TRY(const Pair authority, ensure_authority(folder + "/ca", now));
    const std::string stem = folder + "/server";
    CertificateFiles files{folder + "/ca.pem", stem + ".pem", stem + ".key", false};
    const Pair found{read_key(files.key_file), read_certificate(files.certificate_file)};
    if (fits(found) && lasts(found.certificate.get(), now, kServerRenewal) &&
        signed_by(found.certificate.get(), authority) && names_in(found.certificate.get()) == coded)
        return files;
    LAVANT_TRY(const Pair made, make_server(authority, coded, now));
    LAVANT_TRY_VOID(write_pair(made, stem, true));
    files.renewed = true;
    return files;
}

Result<std::string> certificate_fingerprint(const std::string& certificate_file) {
    const Certificate certificate = read_certificate(certificate_file);
    if (!certificate)
        return fail(ErrorCode::NotFound,
                    "cannot read a PEM certificate from '" + certificate_file +
                        "': check the path and that the file begins with BEGIN CERTIFICATE");
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int length = 0;
    CHECK(X509_digest(certificate.get(), EVP_sha256(), digest.data(), &length) == 1, "a digest cannot fail");
    std::string text;
    for (unsigned int i = 0; i < length; ++i) {
        constexpr std::string_view kDigits = "0123456789ABCDEF";
        if (i != 0) text += ':';
        text += kDigits[digest[i] >> 4U];
        text += kDigits[digest[i] & 15U];
    }
    return text;
}

}  // namespace lavant::adapters
