"""Self-contained HTML pages: their frame and style, tables, and plots as SVG."""
