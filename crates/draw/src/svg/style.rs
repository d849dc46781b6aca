//! Colours and type of the picture, for light and for dark pages.

/// The style sheet.
pub(super) const SHEET: &str = "
text{font-family:ui-sans-serif,system-ui,sans-serif;fill:#1f2430}
.page{fill:#ffffff}
.heading{font-size:16px;font-weight:600}
.step rect,.step polygon{fill:#f3f4f7;stroke:#8a93a6;stroke-width:1.4}
.step text{text-anchor:middle}
.name{font-size:13px;font-weight:600}
.about{font-size:11px;fill:#5b6475}
.prompt rect{fill:#eef2ff;stroke:#6b7fd7}
.run rect{fill:#ecf7f1;stroke:#4d9a73}
.gate polygon{fill:#fff6e0;stroke:#c98a12;stroke-width:2}
.decision polygon{fill:#f6effc;stroke:#9a6cc4}
.workflow rect{fill:#e9f5fa;stroke:#3f8ba8}
.end rect{fill:#e6e8ee;stroke:#4b5263}
.optional rect,.optional polygon{stroke-dasharray:5 4}
.step.start rect,.step.start polygon{stroke-width:3}
.frame rect{fill:#8a93a6;fill-opacity:.07;stroke:#b3bac8;stroke-width:1.2}
.caption{font-size:12px;fill:#5b6475}
.arrow{fill:none;stroke:#6f788b;stroke-width:1.4}
.rewind,.goto{stroke:#b4553f;stroke-dasharray:5 4}
.head{fill:#6f788b}
.back{fill:#b4553f}
.label rect{fill:#ffffff;fill-opacity:.92}
.label text{font-size:11px;fill:#3c4454;text-anchor:middle}
@media (prefers-color-scheme: dark){
text{fill:#e6e9f0}
.page{fill:#14171e}
.about,.caption{fill:#a3acbd}
.step rect,.step polygon{fill:#232833;stroke:#79839a}
.prompt rect{fill:#222a4a;stroke:#8598ee}
.run rect{fill:#1b3328;stroke:#63b98d}
.gate polygon{fill:#3d3012;stroke:#e0a93a}
.decision polygon{fill:#332543;stroke:#b98be0}
.workflow rect{fill:#17323d;stroke:#5fb0cf}
.end rect{fill:#2c313d;stroke:#a3acbd}
.frame rect{stroke:#4a5264}
.arrow{stroke:#97a0b3}
.rewind,.goto{stroke:#e08a73}
.head{fill:#97a0b3}
.back{fill:#e08a73}
.label rect{fill:#14171e}
.label text{fill:#c9d0dd}
}
";

/// The tips of arrows.
pub(super) const ARROW_HEADS: &str = "<defs>\
<marker id=\"head\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
<path class=\"head\" d=\"M0 0L10 5L0 10z\"/></marker>\
<marker id=\"back\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
<path class=\"back\" d=\"M0 0L10 5L0 10z\"/></marker></defs>";
