//! The cost per item against the items so far: the picture that shows whether a cost grows.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, anyhow};
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

/// One line of the plot: a phase.
pub struct Series {
    name: String,
    /// (items so far, microseconds an item since the point before)
    points: Vec<(f64, f64)>,
}

impl Series {
    /// The series of a phase's (items so far, time so far).
    #[must_use]
    pub fn new(name: &str, points: &[(usize, Duration)]) -> Series {
        let mut before = (0, Duration::ZERO);
        let points = points
            .iter()
            .filter_map(|&(items, time)| {
                let (new, took) = (items - before.0, time - before.1);
                before = (items, time);
                (new > 0).then(|| (items as f64, took.as_secs_f64() * 1e6 / new as f64))
            })
            .collect();
        Series { name: name.to_owned(), points }
    }

    /// A series of points that are to be drawn as they are.
    #[must_use]
    pub fn of_points(name: &str, points: Vec<(f64, f64)>) -> Series {
        Series { name: name.to_owned(), points }
    }
}

/// What a picture says beside its lines.
#[derive(Clone, Copy)]
struct Words<'w> {
    caption: &'w str,
    x: &'w str,
    y: &'w str,
}

/// Colours that stay apart for colour-blind eyes (Okabe and Ito's).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(60, 60, 60),
];
const FONT: &str = "Helvetica, Arial, sans-serif";
const INK: RGBColor = RGBColor(50, 50, 50);
const GRID: RGBColor = RGBColor(225, 225, 225);

/// Draws the series of a benchmark into an SVG file. `log` asks for a logarithmic axis for the cost.
///
/// # Errors
/// When the file can't be written, or no series has more than one point.
pub fn draw(path: &Path, bench: &str, series: &[Series], log: bool) -> Result<()> {
    let shown: Vec<&Series> = series.iter().filter(|s| s.points.len() > 1).collect();
    let points = || shown.iter().flat_map(|s| s.points.iter());
    if points().next().is_none() {
        return Err(anyhow!("there are too few items for a plot"));
    }
    let items = points().map(|p| p.0).fold(0.0, f64::max);
    let highest = points().map(|p| p.1).fold(0.0, f64::max);
    let lowest = points().map(|p| p.1).fold(f64::MAX, f64::min);

    let area = SVGBackend::new(path, (960, 540)).into_drawing_area();
    let caption = format!("{bench}: cost per item as the store grows");
    let words = Words { caption: &caption, x: "items so far", y: "microseconds per item" };
    let drawn = if log {
        let cost = (lowest / 1.5..highest * 3.0).log_scale();
        draw_chart(&area, words, &shown, 0.0..items, cost)
    } else {
        // Single peaks (a background merge, the machine's other work) shall not flatten the rest.
        let mut sorted: Vec<f64> = points().map(|p| p.1).collect();
        sorted.sort_by(f64::total_cmp);
        let typical = sorted[(sorted.len() - 1) * 98 / 100];
        draw_chart(&area, words, &shown, 0.0..items, 0.0..(typical * 1.5).min(highest * 1.3))
    };
    drawn.map_err(|error| anyhow!("{}: {error}", path.display()))
}

/// Draws seconds against records into an SVG file: where a line rises by one decade a decade, the cost of a record stays
/// the same.
///
/// # Errors
/// As [`compare`].
pub fn draw_seconds(path: &Path, caption: &str, series: &[Series]) -> Result<()> {
    draw_logarithmic(path, Words { caption, x: "records", y: "seconds" }, series)
}

/// Draws costs that differ by orders of magnitude into an SVG file.
///
/// # Errors
/// When the file can't be written, or no series has a point.
pub fn compare(path: &Path, caption: &str, series: &[Series]) -> Result<()> {
    draw_logarithmic(path, Words { caption, x: "items so far", y: "microseconds per item" }, series)
}

fn draw_logarithmic(path: &Path, words: Words<'_>, series: &[Series]) -> Result<()> {
    let shown: Vec<&Series> = series.iter().filter(|s| !s.points.is_empty()).collect();
    let points = || shown.iter().flat_map(|s| s.points.iter());
    if points().next().is_none() {
        return Err(anyhow!("there is nothing to plot"));
    }
    let bounds = |coordinate: fn(&(f64, f64)) -> f64| {
        let lowest = points().map(coordinate).fold(f64::MAX, f64::min);
        let highest = points().map(coordinate).fold(0.0, f64::max);
        (lowest / 1.3, highest * 1.3)
    };
    let ((fewest, most), (lowest, highest)) = (bounds(|p| p.0), bounds(|p| p.1));
    let area = SVGBackend::new(path, (960, 540)).into_drawing_area();
    let items = (fewest..most.max(fewest * 10.0)).log_scale();
    // Above the lines there is room for their names.
    let cost = (lowest / 1.5..highest * 50.0).log_scale();
    draw_chart(&area, words, &shown, items, cost).map_err(|error| anyhow!("{}: {error}", path.display()))
}

fn draw_chart<Items, Cost>(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    words: Words<'_>,
    series: &[&Series],
    items: Items,
    cost: Cost,
) -> Result<(), DrawingAreaErrorKind<std::io::Error>>
where
    Items: AsRangedCoord<Value = f64>,
    Items::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
    Cost: AsRangedCoord<Value = f64>,
    Cost::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
{
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(area)
        .margin(18)
        .margin_right(40)
        .caption(words.caption, (FONT, 22).into_font().color(&INK))
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d(items, cost)?;
    chart
        .configure_mesh()
        .x_desc(words.x)
        .y_desc(words.y)
        .x_label_formatter(&|items| grouped(*items))
        .y_label_formatter(&|cost| short(*cost))
        .x_labels(11)
        .y_labels(9)
        .axis_style(INK)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .label_style((FONT, 14).into_font().color(&INK))
        .axis_desc_style((FONT, 15).into_font().color(&INK))
        .draw()?;
    for (number, series) in series.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        chart
            .draw_series(LineSeries::new(series.points.iter().copied(), colour.stroke_width(2)))?
            .label(&series.name)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 22, y)], colour.stroke_width(3)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .margin(12)
        .legend_area_size(30)
        .label_font((FONT, 14).into_font().color(&INK))
        .background_style(WHITE.mix(0.85))
        .border_style(GRID)
        .draw()?;
    area.present()
}

/// 1234567 as "1,234,567".
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn short(cost: f64) -> String {
    let text = format!("{cost:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_has_a_title_axes_and_a_legend() {
        let folder = tempfile::tempdir().unwrap();
        let points: Vec<_> = (1..=100).map(|n| (n * 1000, Duration::from_micros(n as u64 * 3000))).collect();
        let series = [Series::new("insert", &points)];
        for log in [false, true] {
            let path = folder.path().join("plot.svg");
            draw(&path, "census90", &series, log).unwrap();
            let svg = std::fs::read_to_string(path).unwrap();
            for text in ["census90: cost per item", "items so far", "microseconds per item", "insert", "20,000"] {
                assert!(svg.contains(text), "{text} is missing");
            }
        }
    }

    #[test]
    fn seconds_against_items() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seconds.svg");
        let series = [
            Series::of_points("A", vec![(1000.0, 0.01), (10_000.0, 0.1), (100_000.0, 1.0)]),
            Series::of_points("B", vec![(1000.0, 0.5), (10_000.0, 50.0)]),
        ];
        draw_seconds(&path, "WRITE", &series).unwrap();
        let svg = std::fs::read_to_string(path).unwrap();
        for text in ["WRITE", "records", "seconds", "10,000"] {
            assert!(svg.contains(text), "{text} is missing");
        }
        assert!(draw_seconds(Path::new("unused.svg"), "x", &[Series::of_points("A", Vec::new())]).is_err());
    }

    #[test]
    fn orders_of_magnitude_fit_into_one_plot() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plot.svg");
        let published = crate::published::census90();
        let ours: Vec<_> = [100, 1000, 1_000_000].map(|n| (n, Duration::from_micros(n as u64 * 3))).into();
        compare(&path, "then and now", &[Series::new("then", &published), Series::new("now", &ours)]).unwrap();
        let svg = std::fs::read_to_string(path).unwrap();
        for text in ["then and now", "1,000,000", "100,000"] {
            assert!(svg.contains(text), "{text} is missing");
        }
    }

    #[test]
    fn nothing_to_draw_is_an_error() {
        assert!(draw(Path::new("unused.svg"), "x", &[], false).is_err());
    }

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!(grouped(999.0), "999");
        assert_eq!(grouped(1_234_567.0), "1,234,567");
    }
}
