"""The style sheet of a printed statement: light, and without any file of its own."""

__all__ = ["STYLE"]

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: #1a1a1a; background: #fff;
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .2rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #999;
  padding-bottom: .2rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
p { margin: .3rem 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 1rem 0; }
dt { color: #555; } dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0;
  font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .5rem; border-bottom: 1px solid #ddd;
  vertical-align: top; }
th { border-bottom: 1px solid #555; font-weight: 600; white-space: nowrap; }
td { overflow-wrap: anywhere; }
.n { text-align: right; white-space: nowrap; }
.slot { white-space: nowrap; }
.name { min-width: 11rem; }
.dense th, .dense td { padding: .25rem .35rem; }
tr.total td { border-top: 1px solid #555; border-bottom: 0; font-weight: 600; }
.bad { color: #a00000; font-weight: 600; }
.zero { color: #999; }
.quiet { color: #555; }
.sign { display: grid; grid-template-columns: 1fr 1fr; gap: 3rem; margin-top: 4rem;
  break-inside: avoid; }
.sign div { border-top: 1px solid #1a1a1a; padding-top: .3rem; color: #555; }
@page { size: A4; margin: 16mm 14mm; }
@media print {
  body { margin: 0; padding: 0; max-width: none; font-size: 10pt; }
  thead { display: table-header-group; }
  .dense { font-size: 9pt; }
  tr, h2, h3 { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
}
"""
