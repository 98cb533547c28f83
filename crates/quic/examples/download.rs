//! A download over real sockets on this machine, with one of airpath's controllers in quinn's sender:
//! `cargo run --release --package airpath-quic --example download -- cubic 50`.
//!
//! Everything specific to airpath is in [`sender`]: a factory, and one line of quinn's transport
//! configuration.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use airpath_control::{
    Counting, Cubic, CubicConfig, NewReno, StandardSlowStart, Vegas, VegasConfig, WindowRule, Windowed,
};
use airpath_model::{Bytes, Controller};
use airpath_quic::ControllerFactory;
use quinn::rustls::RootCertStore;
use quinn::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use quinn::{ClientConfig, ConnectionStats, Endpoint, ServerConfig, TransportConfig};

type Failure = Box<dyn Error + Send + Sync>;

/// The name in the certificate.
const NAME: &str = "localhost";

/// The result of a download.
#[derive(Debug)]
pub(crate) struct Download {
    /// Bytes that arrived.
    pub(crate) received: usize,
    /// Statistics of the sender's stack.
    pub(crate) sender: ConnectionStats,
}

#[tokio::main]
#[allow(clippy::print_stdout, reason = "an example tells what it did")]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let scheme = arguments.next().unwrap_or_else(|| "cubic".to_owned());
    let megabytes = arguments.next().map_or(Ok(50), |text| text.parse::<usize>())?;
    let done = download(controller(&scheme)?, megabytes * 1_000_000).await?;
    let path = done.sender.path;
    println!(
        "{scheme}: {} bytes; {} packets sent, {} lost; window {} bytes",
        done.received, path.sent_packets, path.lost_packets, path.cwnd
    );
    Ok(())
}

/// A function that creates a controller for packets of up to the given size.
pub(crate) type Make = fn(Bytes) -> Box<dyn Controller>;

/// Sends `bytes` bytes from one endpoint of this machine to another with such a controller.
///
/// # Errors
/// If quinn cannot drive the controller, or if the system or the stack refuses something.
pub(crate) async fn download(make: Make, bytes: usize) -> Result<Download, Failure> {
    let (sender, certificate) = sender(make)?;
    let address = sender.local_addr()?;
    let serving = tokio::spawn(async move {
        let connection = sender.accept().await.ok_or("the endpoint is closed")?.await?;
        let mut stream = connection.open_uni().await?;
        let piece = vec![0; 64 * 1024];
        let mut left = bytes;
        while left > 0 {
            let most = left.min(piece.len());
            stream.write_all(&piece[..most]).await?;
            left -= most;
        }
        stream.finish()?;
        // Wait until the receiver has all data and closes the connection.
        connection.closed().await;
        Ok::<_, Failure>(connection.stats())
    });
    let received = receive(address, certificate).await?;
    Ok(Download { received, sender: serving.await?? })
}

/// Returns a function that creates the controller of that name.
///
/// # Errors
/// If the scheme is not available here.
pub(crate) fn controller(scheme: &str) -> Result<Make, Failure> {
    Ok(match scheme {
        "newreno" => |mss| windowed(NewReno::new(Counting::Bytes), mss),
        "cubic" => {
            |mss| windowed(Cubic::new(CubicConfig::default()).expect("the constants of RFC 9438"), mss)
        }
        "vegas" => {
            |mss| windowed(Vegas::new(VegasConfig::default()).expect("the constants of the paper"), mss)
        }
        other => return Err(format!("scheme: found {other:?}; accepted: newreno, cubic, vegas").into()),
    })
}

/// Returns an endpoint whose connections send with one of our controllers, and its certificate.
fn sender(make: Make) -> Result<(Endpoint, CertificateDer<'static>), Failure> {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(ControllerFactory::new(make)?));

    let identity = rcgen::generate_simple_self_signed([NAME.to_owned()])?;
    let certificate = CertificateDer::from(identity.cert);
    let key = PrivateKeyDer::Pkcs8(identity.signing_key.serialize_der().into());
    let mut config = ServerConfig::with_single_cert(vec![certificate.clone()], key)?;
    config.transport_config(Arc::new(transport));
    Ok((Endpoint::server(config, (Ipv4Addr::LOCALHOST, 0).into())?, certificate))
}

fn windowed(rule: impl WindowRule + 'static, mss: Bytes) -> Box<dyn Controller> {
    let window = Bytes::new(10 * mss.get());
    Box::new(
        Windowed::new(rule, StandardSlowStart::default(), window, mss).expect("ten packets are a window"),
    )
}

/// Connects, and reads the sender's data.
async fn receive(address: SocketAddr, certificate: CertificateDer<'static>) -> Result<usize, Failure> {
    let mut trusted = RootCertStore::empty();
    trusted.add(certificate)?;
    let mut endpoint = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into())?;
    endpoint.set_default_client_config(ClientConfig::with_root_certificates(Arc::new(trusted))?);
    let connection = endpoint.connect(address, NAME)?.await?;
    let mut stream = connection.accept_uni().await?;
    let mut received = 0;
    while let Some(chunk) = stream.read_chunk(usize::MAX, true).await? {
        received += chunk.bytes.len();
    }
    connection.close(0_u32.into(), b"");
    endpoint.wait_idle().await;
    Ok(received)
}
