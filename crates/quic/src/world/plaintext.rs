//! QUIC's cryptography without secrets, for packets that only this process reads.
//!
//! Sizes are those of TLS 1.3 with AEAD: 16 bytes of tag on each packet, and handshake messages about as long
//! as with one elliptic-curve certificate. The computations are left out, so a run needs no random keys and
//! is reproducible.

use std::any::Any;
use std::sync::Arc;

use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey,
    KeyPair, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};

/// Bytes that authentication adds to a packet.
const TAG: usize = 16;
/// Size of the client's first message in bytes.
const CLIENT_HELLO: usize = 400;
/// Size of the server's first message in bytes.
const SERVER_HELLO: usize = 90;
/// Size of the rest of the server's messages: extensions, a certificate, its signature.
const SERVER_REST: usize = 900;
/// Size of the client's last message in bytes.
const CLIENT_FINISHED: usize = 36;

/// The cryptography of both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plaintext;

/// One side of a handshake.
#[derive(Debug)]
struct Handshake {
    side: Side,
    own: Vec<u8>,
    /// Received messages of the peer, of all levels.
    heard: Vec<u8>,
    /// Number of key changes after it.
    phase: u64,
    /// Number of completed steps. The client sends its hello, gets the handshake keys, finishes; the server
    /// sends its hello, then the rest.
    steps: u8,
    announced: bool,
}

impl Handshake {
    fn new(side: Side, parameters: &TransportParameters) -> Self {
        let mut own = Vec::new();
        parameters.write(&mut own);
        Self { side, own, heard: Vec::new(), phase: 0, steps: 0, announced: false }
    }

    /// Returns whether all of the peer's messages up to that length have arrived.
    fn has_heard(&self, length: usize) -> bool {
        self.heard.len() >= length
    }

    /// Returns the peer's parameters, if the message that contains them has arrived.
    fn parameters_of_peer(&self) -> Option<&[u8]> {
        let skipped = if self.side.is_client() { SERVER_HELLO } else { 0 };
        let message = self.heard.get(skipped..)?;
        let (length, rest) = message.split_first_chunk::<2>()?;
        rest.get(..usize::from(u16::from_be_bytes(*length)))
    }
}

/// Writes a message of `length` bytes that begins with the stack's parameters, a few hundred bytes.
fn message(buffer: &mut Vec<u8>, said: &[u8], length: usize) {
    assert!(said.len() + 2 <= length, "parameters of {} bytes in a message of {length}", said.len());
    let start = buffer.len();
    buffer.extend_from_slice(&(said.len() as u16).to_be_bytes());
    buffer.extend_from_slice(said);
    buffer.resize(start + length, 0);
}

/// Returns the keys of a level of the handshake, or the first ones after it.
fn keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(Plaintext), remote: Box::new(Plaintext) },
        packet: packet_keys(0),
    }
}

fn packet_keys(phase: u64) -> KeyPair<Box<dyn PacketKey>> {
    KeyPair { local: Box::new(PhaseKey(phase)), remote: Box::new(PhaseKey(phase)) }
}

impl Session for Handshake {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.side.is_client().then_some(false)
    }

    fn is_handshaking(&self) -> bool {
        match self.side {
            Side::Client => self.steps < 3,
            Side::Server => !self.has_heard(CLIENT_HELLO + CLIENT_FINISHED),
        }
    }

    fn read_handshake(&mut self, buffer: &[u8]) -> Result<bool, TransportError> {
        self.heard.extend_from_slice(buffer);
        let ready = self.parameters_of_peer().is_some();
        Ok(ready && !std::mem::replace(&mut self.announced, ready))
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let Some(mut said) = self.parameters_of_peer() else { return Ok(None) };
        Ok(Some(TransportParameters::read(self.side, &mut said)?))
    }

    fn write_handshake(&mut self, buffer: &mut Vec<u8>) -> Option<Keys> {
        let ready = match (self.side, self.steps) {
            (Side::Client, 0) | (Side::Server, 1) => true,
            (Side::Client, 1) => self.has_heard(SERVER_HELLO),
            (Side::Client, 2) => self.has_heard(SERVER_HELLO + SERVER_REST),
            (Side::Server, 0) => self.has_heard(CLIENT_HELLO),
            _ => false,
        };
        if !ready {
            return None;
        }
        self.steps += 1;
        match (self.side, self.steps) {
            (Side::Client, 1) => {
                message(buffer, &self.own, CLIENT_HELLO);
                return None;
            }
            (Side::Client, 2) => {}
            (Side::Client, _) => message(buffer, &[], CLIENT_FINISHED),
            (Side::Server, 1) => message(buffer, &[], SERVER_HELLO),
            (Side::Server, _) => message(buffer, &self.own, SERVER_REST),
        }
        Some(keys())
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        self.phase += 1;
        Some(packet_keys(self.phase))
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        false
    }

    fn export_keying_material(
        &self,
        _: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

impl ClientConfig for Plaintext {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server_name: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(Handshake::new(Side::Client, parameters)))
    }
}

impl ServerConfig for Plaintext {
    fn initial_keys(&self, _version: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _version: u32, _: &ConnectionId, _packet: &[u8]) -> [u8; TAG] {
        [0; TAG]
    }

    fn start_session(self: Arc<Self>, _version: u32, parameters: &TransportParameters) -> Box<dyn Session> {
        Box::new(Handshake::new(Side::Server, parameters))
    }
}

impl HeaderKey for Plaintext {
    fn decrypt(&self, _offset: usize, _packet: &mut [u8]) {}

    fn encrypt(&self, _offset: usize, _packet: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        TAG
    }
}

/// Keys that only contain the number of earlier key changes. Quinn uses them to decide whether a late packet
/// was sent under earlier keys, or whether keys were changed again.
#[derive(Clone, Copy, Debug)]
struct PhaseKey(u64);

impl PacketKey for PhaseKey {
    fn encrypt(&self, _number: u64, buffer: &mut [u8], _header: usize) {
        if let Some(tag) = buffer.last_chunk_mut() {
            *tag = self.0.to_be_bytes();
        }
    }

    fn decrypt(&self, _number: u64, _header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let length = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        if payload.last_chunk() != Some(&self.0.to_be_bytes()) {
            return Err(CryptoError);
        }
        payload.truncate(length);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

/// Connections are not reset here, and addresses need no validation.
impl HmacKey for Plaintext {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        // Must differ between identifiers, as tokens do.
        signature.fill(0);
        for (byte, said) in signature.iter_mut().zip(data.iter().rev()) {
            *byte = !said;
        }
    }

    fn signature_len(&self) -> usize {
        2 * TAG
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut expected = vec![0; self.signature_len()];
        self.sign(data, &mut expected);
        if signature == expected { Ok(()) } else { Err(CryptoError) }
    }
}

impl HandshakeTokenKey for Plaintext {
    fn aead_from_hkdf(&self, _random: &[u8]) -> Box<dyn AeadKey> {
        Box::new(*self)
    }
}

impl AeadKey for Plaintext {
    fn seal(&self, data: &mut Vec<u8>, _additional: &[u8]) -> Result<(), CryptoError> {
        data.resize(data.len() + TAG, 0);
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _additional: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let length = data.len().checked_sub(TAG).ok_or(CryptoError)?;
        Ok(&mut data[..length])
    }
}
