import { Metadata } from '@grpc/grpc-js'

/** Metadata that is text: keys in lower case, values in order. Binary keys (`…-bin`) are never among them. */
export type TextMetadata = Readonly<Record<string, readonly string[]>>

export function textOf(metadata: Metadata): TextMetadata {
  const text: Record<string, string[]> = {}
  for (const key of Object.keys(metadata.getMap())) if (!key.endsWith('-bin')) text[key] = metadata.get(key).map(String)
  return text
}

export function metadataOf(text: TextMetadata): Metadata {
  const metadata = new Metadata()
  for (const [key, values] of Object.entries(text)) for (const value of values) metadata.add(key, value)
  return metadata
}
