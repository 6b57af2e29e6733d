//! Palettes of at most 256 colours.

use std::collections::{HashMap, HashSet};

/// Maximum colours of a palette.
const MAX_COLOURS: usize = 256;

/// How often colours occur.
#[derive(Debug, Default)]
pub(super) struct ColourCounts(HashMap<[u8; 3], u64>);

impl ColourCounts {
    /// Adds pixels.
    pub fn count(&mut self, pixels: &[[u8; 3]]) {
        for same in pixels.chunk_by(|left, right| left == right) {
            *self.0.entry(same[0]).or_default() += same.len() as u64;
        }
    }
}

/// A palette, which is never empty.
#[derive(Debug)]
pub(super) struct Palette {
    colours: Vec<[u8; 3]>,
    /// Indices of its colours, and of others for which the nearest one was searched.
    indices: HashMap<[u8; 3], u8>,
}

impl Palette {
    /// Chooses the colours that occur most often. Those in `exact` come first.
    pub fn choose(counts: &ColourCounts, exact: &HashSet<[u8; 3]>) -> Self {
        let mut colours: Vec<([u8; 3], u64)> = counts.0.iter().map(|(colour, count)| (*colour, *count)).collect();
        colours.sort_unstable_by_key(|(colour, count)| (!exact.contains(colour), std::cmp::Reverse(*count), *colour));
        colours.truncate(MAX_COLOURS);
        let mut colours: Vec<[u8; 3]> = colours.into_iter().map(|(colour, _)| colour).collect();
        if colours.is_empty() {
            colours.push([0; 3]);
        }
        let indices = (0..=u8::MAX).zip(&colours).map(|(index, colour)| (*colour, index)).collect();
        Self { colours, indices }
    }

    /// Returns red, green and blue of all colours.
    pub fn bytes(&self) -> Vec<u8> {
        self.colours.concat()
    }

    /// Returns the indices of pixels; `None` if the palette does not have all colours.
    pub fn exact_indices(&self, pixels: &[[u8; 3]]) -> Option<Vec<u8>> {
        let mut indices = Vec::with_capacity(pixels.len());
        for same in pixels.chunk_by(|left, right| left == right) {
            let index = self.indices.get(&same[0])?;
            indices.resize(indices.len() + same.len(), *index);
        }
        Some(indices)
    }

    /// Returns the indices of the nearest colours.
    pub fn nearest_indices(&mut self, pixels: &[[u8; 3]]) -> Vec<u8> {
        let mut indices = Vec::with_capacity(pixels.len());
        for same in pixels.chunk_by(|left, right| left == right) {
            let index = match self.indices.get(&same[0]) {
                Some(index) => *index,
                None => {
                    let index = self.find_nearest(same[0]);
                    self.indices.insert(same[0], index);
                    index
                }
            };
            indices.resize(indices.len() + same.len(), index);
        }
        indices
    }

    fn find_nearest(&self, colour: [u8; 3]) -> u8 {
        let distance = |other: &[u8; 3]| -> u32 {
            colour.iter().zip(other).map(|(left, right)| u32::from(left.abs_diff(*right)).pow(2)).sum()
        };
        (0..=u8::MAX).zip(&self.colours).min_by_key(|(_, other)| distance(other)).map_or(0, |(index, _)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_the_theme_are_kept_and_others_are_replaced_by_the_nearest() {
        let mut counts = ColourCounts::default();
        for grey in 0..=255_u8 {
            counts.count(&[[grey; 3]; 10]);
            counts.count(&[[grey, 0, 255]; 9]);
        }
        counts.count(&[[1, 2, 3]]);
        let mut palette = Palette::choose(&counts, &HashSet::from([[1, 2, 3], [250, 0, 255]]));
        assert_eq!((palette.colours.len(), palette.colours[0], palette.colours[1]), (256, [250, 0, 255], [1, 2, 3]));
        assert_eq!(palette.exact_indices(&[[1, 2, 3], [1, 2, 3], [250, 0, 255]]), Some(vec![1, 1, 0]));
        assert_eq!(palette.exact_indices(&[[7, 0, 255]]), None);
        assert_eq!(palette.nearest_indices(&[[247, 0, 255], [1, 2, 4]]), [0, 1]);
        assert_eq!(Palette::choose(&ColourCounts::default(), &HashSet::new()).bytes(), [0; 3]);
    }
}
