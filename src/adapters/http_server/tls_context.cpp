#include "adapters/http_server/tls_context.h"

#include <fcntl.h>
#include <openssl/err.h>

#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "base/check.h"
#include "base/files.h"

namespace lavant::adapters::http {
namespace {

std::string last_error() {
    std::array<char, 256> text{};
    ERR_error_string_n(ERR_get_error(), text.data(), text.size());
    ERR_clear_error();
    return text.data();
}

// HTTP/1.1 where the client offers it; a client that offers only others is answered without a choice.
int select_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes,
                    const unsigned char* offered, unsigned int offered_bytes, void*) {
    static constexpr std::array<unsigned char, 9> kOurs = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    unsigned char* found = nullptr;
    if (SSL_select_next_proto(&found, chosen_bytes, kOurs.data(), kOurs.size(), offered, offered_bytes) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

void set_up(SSL_CTX* context) {
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                     SSL_OP_PRIORITIZE_CHACHA);
    // AES-128 first: it is the fastest on machines with AES instructions, and strong enough.
    SSL_CTX_set_ciphersuites(context,
                             "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256");
    SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);  // idle connections hold no buffers
    SSL_CTX_set_read_ahead(context, 1);                       // one system call for a record, not two
    SSL_CTX_set_num_tickets(context, 1);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);  // tickets only: no state here
    SSL_CTX_set_alpn_select_cb(context, select_protocol, nullptr);
}

TlsWire& wire_of(BIO* bio) { return *static_cast<TlsWire*>(BIO_get_data(bio)); }

int read_wire(BIO* bio, char* into, std::size_t bytes_max, std::size_t* count) {
    BIO_clear_retry_flags(bio);
    ssize_t got = 0;
    do {
        got = ::recv(wire_of(bio).socket, into, bytes_max, 0);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_read(bio);
    if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    if (got <= 0) return 0;
    *count = static_cast<std::size_t>(got);
    return 1;
}

int write_wire(BIO* bio, const char* bytes, std::size_t length, std::size_t* count) {
    BIO_clear_retry_flags(bio);
    wire_of(bio).out.append(bytes, length);
    *count = length;
    return 1;
}

long control_wire(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_FLUSH) return 1;
    if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    return 0;
}

BIO_METHOD* make_wire_method() {
    BIO_METHOD* const method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "lavant wire");
    CHECK(method != nullptr, "a table of functions needs only memory");
    BIO_meth_set_read_ex(method, read_wire);
    BIO_meth_set_write_ex(method, write_wire);
    BIO_meth_set_ctrl(method, control_wire);
    return method;
}

}  // namespace

Result<std::shared_ptr<const TlsContext>> TlsContext::load(const std::string& certificate_file,
                                                           const std::string& key_file) {
    for (const std::string& path : {certificate_file, key_file})
        LAVANT_TRY_VOID(open_file(path, O_RDONLY).map_error(in("setting up TLS")));
    const std::shared_ptr<TlsContext> made(new TlsContext);
    made->context_ = SSL_CTX_new(TLS_server_method());
    if (made->context_ == nullptr) return fail(ErrorCode::Internal, "cannot set up TLS: " + last_error());
    set_up(made->context_);
    made->wire_method_ = make_wire_method();
    if (SSL_CTX_use_certificate_chain_file(made->context_, certificate_file.c_str()) != 1)
        return fail(ErrorCode::InvalidArgument,
                    "cannot use '" + certificate_file +
                        "' as the server's certificate: it must be PEM, the server's "
                        "first and its issuers after it (" +
                        last_error() + ")");
    if (SSL_CTX_use_PrivateKey_file(made->context_, key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(made->context_) != 1)
        return fail(ErrorCode::InvalidArgument,
                    "cannot use '" + key_file + "' as the key of '" + certificate_file +
                        "': it must be the PEM key, without a password, that belongs to "
                        "it (" +
                        last_error() + ")");
    return std::shared_ptr<const TlsContext>(made);
}

TlsContext::~TlsContext() {
    SSL_CTX_free(context_);
    BIO_meth_free(wire_method_);
}

SSL* TlsContext::make_connection(TlsWire* wire) const {
    SSL* const ssl = SSL_new(context_);
    BIO* const bio = BIO_new(wire_method_);
    CHECK(ssl != nullptr && bio != nullptr, "a TLS object needs only memory");
    BIO_set_data(bio, wire);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_accept_state(ssl);
    return ssl;
}

}  // namespace lavant::adapters::http
