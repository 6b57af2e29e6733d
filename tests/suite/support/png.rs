//! PNG files for tests.

use std::io::Write;

/// Returns a PNG of one bit per pixel with white and black stripes, each eight pixels high.
pub fn striped_png(width: u32, height: u32) -> Vec<u8> {
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    for y in 0..height {
        let mut row = vec![if y / 8 % 2 == 0 { 0xff } else { 0 }; 1 + width.div_ceil(8) as usize];
        // The filter of the row.
        row[0] = 0;
        zlib.write_all(&row).unwrap();
    }
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[1, 0, 0, 0, 0]].concat();
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in [(b"IHDR", header), (b"IDAT", zlib.finish().unwrap()), (b"IEND", Vec::new())] {
        let chunk = [&kind[..], &data].concat();
        let mut checksum = flate2::Crc::new();
        checksum.update(&chunk);
        png.extend([&(data.len() as u32).to_be_bytes()[..], &chunk, &checksum.sum().to_be_bytes()].concat());
    }
    png
}
