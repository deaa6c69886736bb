/**
 * Files of a commit in, objects out: plain YAML and JSON, or what `kustomize build` or `helm template` make of them, with variables
 * replaced. It knows no cluster. Read source.ts (what a snapshot is), render.ts (plain files, a kustomization or a chart), then
 * kustomization.ts (which files it needs) and chart.ts, kustomize.ts and confined.ts (how it is built); decryption.ts (what SOPS has encrypted)
 * and variables.ts come last.
 */
export { type Capabilities, type ChartSettings, lookupsIn, valueFileIn } from './chart.ts'
export { createDecryption, type Decryption, withDecryption } from './decryption.ts'
export { pathIn, patternsFor } from './kustomization.ts'
export { type Manifest, placeOf } from './manifest.ts'
export { createFileReader, type ReadFiles } from './plain.ts'
export { createRenderer, type Render, type RendererOptions, type RenderHow } from './render.ts'
export { folderOf, type Snapshot, type SourceFile } from './source.ts'
export { VARIABLES_ANNOTATION, type Variables, withVariables } from './variables.ts'
