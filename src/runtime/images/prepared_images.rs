//! Images that were prepared for earlier requests of the session, because each request of a turn sends them again.

use crate::documents::picture::ModelPicture;
use ring::digest::{SHA256, digest};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of prepared images: those of one request.
const MAX_PREPARED: usize = 20;
/// Maximum bytes of all prepared images, apart from the last one.
const MAX_BYTES: usize = 24 << 20;

/// Result for an image, and the digest of its bytes.
type Prepared = ([u8; 32], Result<Arc<ModelPicture>, String>);

/// Prepared images, the last used at the end.
#[derive(Default)]
pub(in crate::runtime) struct PreparedImages(Mutex<Vec<Prepared>>);

impl PreparedImages {
    /// Returns how an image is sent, and prepares it unless that was done before.
    ///
    /// # Errors
    /// Those of `prepare`.
    pub(super) fn get_or_prepare(
        &self,
        bytes: &[u8],
        prepare: fn(&[u8]) -> Result<ModelPicture, String>,
    ) -> Result<Arc<ModelPicture>, String> {
        let mut key = [0; 32];
        key.copy_from_slice(digest(&SHA256, bytes).as_ref());
        let mut images = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let image = match images.iter().position(|(known, _)| *known == key) {
            Some(index) => images.remove(index),
            None => (key, prepare(bytes).map(Arc::new)),
        };
        let result = image.1.clone();
        images.push(image);
        while images.len() > MAX_PREPARED || images.len() > 1 && total_bytes(&images) > MAX_BYTES {
            images.drain(..1);
        }
        result
    }
}

fn total_bytes(images: &[Prepared]) -> usize {
    let size = |(_, image): &Prepared| match image.as_deref() {
        Ok(ModelPicture::Encoded { bytes, .. }) => bytes.len(),
        Ok(ModelPicture::Unchanged) | Err(_) => 0,
    };
    images.iter().map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(size: usize) -> Result<ModelPicture, String> {
        Ok(ModelPicture::Encoded { bytes: vec![1; size], from: (2, 2), to: (1, 1) })
    }

    #[test]
    fn an_image_is_prepared_once_while_it_is_kept() {
        let images = PreparedImages::default();
        let first = images.get_or_prepare(b"a", |_| encoded(3)).unwrap();
        let again = images.get_or_prepare(b"a", |_| panic!("prepared twice")).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!(images.get_or_prepare(b"b", |_| Err("damaged".into())), Err("damaged".to_owned()));
        assert_eq!(images.get_or_prepare(b"b", |_| panic!("prepared twice")), Err("damaged".to_owned()));
    }

    #[test]
    fn the_oldest_images_are_dropped_beyond_the_limits() {
        let images = PreparedImages::default();
        for number in 0..=MAX_PREPARED as u8 {
            images.get_or_prepare(&[number], |_| Ok(ModelPicture::Unchanged)).unwrap();
        }
        assert_eq!(images.0.lock().unwrap().len(), MAX_PREPARED);
        images.get_or_prepare(b"large", |_| encoded(MAX_BYTES)).unwrap();
        assert_eq!(images.0.lock().unwrap().len(), MAX_PREPARED, "images that are sent unchanged take nothing");
        images.get_or_prepare(b"more", |_| encoded(1)).unwrap();
        let images = images.0.lock().unwrap();
        assert!(total_bytes(&images) <= MAX_BYTES && images.len() == 1, "{}", images.len());
    }
}
