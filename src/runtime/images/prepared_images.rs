//! Images that were prepared for earlier requests of the session, because each request of a turn sends them again.

use crate::documents::picture::ModelPicture;
use ring::digest::{SHA256, digest};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of prepared images: those of one request, of which each has at most 3.9 MB.
const MAX_PREPARED: usize = 20;
/// A prepared image, and the digest of the bytes that it was made from. Errors are not kept: they may be due to a busy machine.
type Prepared = ([u8; 32], Arc<ModelPicture>);

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
            None => (key, Arc::new(prepare(bytes)?)),
        };
        let picture = image.1.clone();
        images.push(image);
        let excess = images.len().saturating_sub(MAX_PREPARED);
        images.drain(..excess);
        Ok(picture)
    }
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
        assert_eq!(images.get_or_prepare(b"b", |_| Err("slow".into())), Err("slow".to_owned()));
        assert!(images.get_or_prepare(b"b", |_| encoded(3)).is_ok(), "it is tried again");
    }

    #[test]
    fn the_oldest_images_are_dropped_beyond_the_limit() {
        let images = PreparedImages::default();
        for number in 0..=MAX_PREPARED as u8 {
            images.get_or_prepare(&[number], |_| Ok(ModelPicture::Unchanged)).unwrap();
        }
        assert_eq!(images.0.lock().unwrap().len(), MAX_PREPARED);
        let again = images.get_or_prepare(&[0], |_| Err("it was dropped".into()));
        assert_eq!(again, Err("it was dropped".to_owned()));
    }
}
