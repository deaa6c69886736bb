/** The devfile's own `variables`, by name. */
export type Fill = ReadonlyMap<string, string>

const VARIABLE = /\{\{\s*([A-Za-z0-9_.-]+)\s*\}\}/g

/** Fills in `{{ name }}`, once and not recursively. A name that is unknown stays as it is and is reported. */
export const filled = (text: string, fill: Fill, unknown: (name: string) => void): string =>
  text.replace(VARIABLE, (whole, name: string) => {
    const value = fill.get(name)
    if (value === undefined) unknown(name)
    return value ?? whole
  })
