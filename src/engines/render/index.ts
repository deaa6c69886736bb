/**
 * Files of a commit in, objects out: plain YAML and JSON, or what `kustomize build` makes of them, with variables replaced.
 * It knows no cluster. Read source.ts (what a snapshot is), render.ts (plain files or a kustomization), then kustomization.ts (which files
 * it needs) and kustomize.ts (how it is built); decryption.ts (what SOPS has encrypted) and variables.ts come last.
 */
export { createDecryption, type Decryption, withDecryption } from './decryption.ts'
export { pathIn, patternsFor } from './kustomization.ts'
export type { Manifest } from './manifest.ts'
export { createFileReader, type ReadFiles } from './plain.ts'
export { createRenderer, type Render, type RendererOptions } from './render.ts'
export type { Snapshot, SourceFile } from './source.ts'
export { type Variables, withVariables } from './variables.ts'
