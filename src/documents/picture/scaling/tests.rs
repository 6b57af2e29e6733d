//! Pictures of all formats, sizes and kinds of pixels.

use super::*;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use image::codecs::gif::GifEncoder;
use image::{Delay, Frame, Rgb, Rgba};

/// A JPEG of 16 × 16 red pixels in CMYK.
const CMYK: &str = "/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwAQCwwODAoQDg0OEhEQExgoGhgWFhgxIyUdKDozPTw5Mzg3QEhcTkBEV0U3OFBtUVdfYmdoZz5NcXlwZHhcZWdj/8AAFAgAEAAQBEMRAE0RAFkRAEsRAP/EAB8AAAEFAQEBAQEBAAAAAAAAAAABAgMEBQYHCAkKC//EALUQAAIBAwMCBAMFBQQEAAABfQECAwAEEQUSITFBBhNRYQcicRQygZGhCCNCscEVUtHwJDNicoIJChYXGBkaJSYnKCkqNDU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6g4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2drh4uPk5ebn6Onq8fLz9PX29/j5+v/aAA4EQwBNAFkASwAAPwD0CvP68/r0Ciiiiiiiiiiiiv/Z";
/// A JPEG of 16 × 8 pixels, blue at the left and red at the right, with the orientation of a camera that was turned.
const TURNED: &str = "/9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAAAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARESEhgVGC8aGi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wAARCAAIABADASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDja2KKK9TiL/l18/0PZyH/AJefL9T/2Q==";

fn to_bytes(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// Returns an opaque picture with a gradient.
fn gradient(width: u32, height: u32) -> DynamicImage {
    RgbImage::from_fn(width, height, |x, y| Rgb([(x * 255 / width) as u8, (y * 255 / height) as u8, 99])).into()
}

/// Returns the sizes in the output, and the picture that is sent, which is `None` if it was left unchanged.
fn encode(bytes: Vec<u8>) -> ([u32; 4], Option<(DynamicImage, ImageFormat)>) {
    let (sizes, sent) = super::super::split_sizes(encode_for_model(bytes).unwrap()).unwrap();
    (sizes, (!sent.is_empty()).then(|| decode(&sent).unwrap()))
}

#[test]
fn small_pictures_of_every_format_are_sent_unchanged() {
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP] {
        let (sizes, sent) = encode(to_bytes(&gradient(30, 20), format));
        assert_eq!((sizes, sent), ([30, 20, 30, 20], None), "{format:?}");
    }
    assert_eq!(encode(to_bytes(&gradient(1, 1), ImageFormat::Png)), ([1, 1, 1, 1], None));
}

#[test]
fn large_pictures_are_scaled_to_the_side_that_models_use() {
    for (format, expected) in [
        (ImageFormat::Png, ImageFormat::Png),
        (ImageFormat::Jpeg, ImageFormat::Jpeg),
        (ImageFormat::WebP, ImageFormat::Png),
    ] {
        let (sizes, sent) = encode(to_bytes(&gradient(2000, 100), format));
        let (picture, format) = sent.unwrap();
        assert_eq!((sizes, format), ([2000, 100, 1568, 78], expected));
        assert_eq!((picture.width(), picture.height()), (1568, 78));
        let Rgba([red, green, blue, alpha]) = image::GenericImageView::get_pixel(&picture, 784, 39);
        let is_near = |value: u8, expected: i32| (i32::from(value) - expected).abs() < 6;
        assert!(is_near(red, 127) && is_near(green, 127) && is_near(blue, 99) && alpha == 255, "{red} {green} {blue}");
    }
    let (sizes, sent) = encode(to_bytes(&gradient(65_535, 1), ImageFormat::Png));
    assert_eq!(sizes, [65_535, 1, 1568, 1]);
    assert_eq!(sent.unwrap().0.height(), 1);
}

#[test]
fn a_png_that_does_not_compress_becomes_a_jpeg_on_white() {
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let picture = RgbaImage::from_fn(1400, 1400, |x, _| match x < 200 {
        true => Rgba([0, 0, 0, 0]),
        false => Rgba([noise(), noise(), noise(), 255]),
    });
    let bytes = to_bytes(&picture.into(), ImageFormat::Png);
    assert!(bytes.len() > MAX_SENT_BYTES, "{}", bytes.len());
    let (sizes, sent) = encode(bytes);
    let (picture, format) = sent.unwrap();
    assert_eq!((sizes, format), ([1400, 1400, 1400, 1400], ImageFormat::Jpeg));
    let Rgba(corner) = image::GenericImageView::get_pixel(&picture, 20, 700);
    assert!(corner.iter().all(|value| *value > 245), "transparent pixels are white: {corner:?}");
}

#[test]
fn the_colour_of_transparent_pixels_does_not_mix_with_that_of_others() {
    let picture = RgbaImage::from_fn(3136, 20, |x, _| match x % 2 {
        0 => Rgba([0, 255, 0, 0]),
        _ => Rgba([200, 0, 0, 255]),
    });
    let (picture, _) = encode(to_bytes(&picture.into(), ImageFormat::Png)).1.unwrap();
    let Rgba([red, green, _, alpha]) = image::GenericImageView::get_pixel(&picture, 800, 5);
    assert!(red > 190 && green < 10 && (100..156).contains(&alpha), "{red} {green} {alpha}");
}

#[test]
fn pictures_of_all_kinds_of_pixels_are_decoded() {
    let deep = image::ImageBuffer::from_fn(1600, 4, |_, _| Rgb([65_535_u16, 0, 32_768]));
    let (picture, _) = encode(to_bytes(&DynamicImage::ImageRgb16(deep), ImageFormat::Png)).1.unwrap();
    assert_eq!(image::GenericImageView::get_pixel(&picture, 9, 1), Rgba([255, 0, 128, 255]));
    let (picture, _) = decode(&BASE64_STANDARD.decode(CMYK).unwrap()).unwrap();
    let Rgba([red, green, blue, _]) = image::GenericImageView::get_pixel(&picture, 8, 8);
    assert!(red > 240 && green < 15 && blue < 15, "{red} {green} {blue}");
    // A GIF has a palette.
    let (picture, _) = decode(&to_bytes(&gradient(9, 9), ImageFormat::Gif)).unwrap();
    assert_eq!((picture.width(), picture.height()), (9, 9));
}

#[test]
fn a_photo_is_turned_as_its_metadata_says() {
    let (picture, _) = decode(&BASE64_STANDARD.decode(TURNED).unwrap()).unwrap();
    assert_eq!((picture.width(), picture.height()), (8, 16));
    let Rgba([red, _, blue, _]) = image::GenericImageView::get_pixel(&picture, 4, 1);
    assert!(blue > 200 && red < 60, "the left side is at the top: {red} {blue}");
}

#[test]
fn of_an_animation_the_first_frame_is_sent() {
    let mut bytes = Vec::new();
    let mut encoder = GifEncoder::new(&mut bytes);
    for colour in [[255, 0, 0, 255], [0, 0, 255, 255]] {
        let frame = RgbaImage::from_pixel(2000, 10, Rgba(colour));
        encoder.encode_frame(Frame::from_parts(frame, 0, 0, Delay::from_numer_denom_ms(100, 1))).unwrap();
    }
    drop(encoder);
    let (picture, format) = encode(bytes).1.unwrap();
    assert_eq!(format, ImageFormat::Png);
    assert_eq!(image::GenericImageView::get_pixel(&picture, 500, 4), Rgba([255, 0, 0, 255]));
}

#[test]
fn damaged_pictures_are_refused() {
    let png = to_bytes(&gradient(40, 40), ImageFormat::Png);
    let webp = to_bytes(&gradient(40, 40), ImageFormat::WebP);
    for bytes in [&png[..png.len() / 2], &png[..20], &webp[..webp.len() / 2], b"", b"GIF89a", b"\xff\xd8\xff"] {
        let reason = encode_for_model(bytes.to_vec()).unwrap_err();
        assert!(reason.starts_with("it is damaged"), "{reason}");
    }
}
