/** To be sent as UTF-8, as the API server reads headers: Node and undici write each character of a value as one byte. */
export const asHeader = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')
