import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/longest-first.ts'

// Hundreds of processes of ours are started: without it half of the work of most of them goes into reading the sources.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('.cache/compiled', import.meta.url))

/** Where servers and machines are waited for, which others keep busy. */
const patient = { timeout: 60_000, interval: 100 }

/** Files at once where most of them wait. */
const besideServers = 6

// Two workers: what runs in them fills a core each.
export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    // Folders are put up and taken down on a disk that others use too.
    hookTimeout: 120_000,
    passWithNoTests: true,
    sequence: { sequencer: LongestFirst },
    // What is polled for is another process's doing; a second is no limit on a busy machine.
    expect: { poll: { timeout: 30_000, interval: 100 } },
    reporters: process.env.SLIPWAY_TEST_REPORT
      ? ['default', ['json', { outputFile: process.env.SLIPWAY_TEST_REPORT }]]
      : ['default'],
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['src/**/*.test.ts'], exclude: ['src/console/**'], testTimeout: 30_000 },
      },
      {
        extends: true,
        test: {
          name: 'page',
          include: ['src/console/**/*.test.{ts,tsx}'],
          environment: 'happy-dom',
          testTimeout: 30_000,
        },
      },
      { extends: true, test: { name: 'house', include: ['test/house/**/*.test.ts'], testTimeout: 240_000 } },
      {
        extends: true,
        test: {
          name: 'simulated',
          include: ['test/{contract,scenario,compat}/**/*.test.ts'],
          testTimeout: 600_000,
        },
      },
      // Nothing in them is timed by the wall: they take what those that wait leave of the processors.
      {
        extends: true,
        test: {
          name: 'histories',
          include: ['test/{faults,proof}/**/*.test.ts'],
          setupFiles: ['test/faults/at-leisure.ts'],
          testTimeout: 1_800_000,
          maxWorkers: besideServers,
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: 'release', include: ['test/release/**/*.test.ts'], testTimeout: 120_000 } },
      {
        extends: true,
        test: {
          name: 'apiserver',
          include: ['test/apiserver/**/*.test.ts'],
          globalSetup: ['test/browser/build-page.ts'],
          // They mostly wait for their servers and for time that has to pass.
          maxWorkers: besideServers,
          testTimeout: 300_000,
          hookTimeout: 600_000,
          expect: { poll: patient },
          sequence: { groupOrder: 1 },
        },
      },
      // The page in a real browser, served by the real server over the simulator.
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: ['test/browser/build-page.ts'],
          testTimeout: 180_000,
          expect: { poll: patient },
          // Among those that wait.
          maxWorkers: besideServers,
          sequence: { groupOrder: 1 },
        },
      },
      // Booted machines need root: only `make e2e` and `make e2e-full` ask for them.
      ...(process.env.SLIPWAY_E2E !== undefined
        ? [
            {
              extends: true as const,
              test: {
                name: 'e2e',
                // Most of the time somebody waits for a machine: four beds at once take little longer than one.
                maxWorkers: 4,
                include:
                  process.env.SLIPWAY_E2E === 'full'
                    ? ['test/{e2e,conformance}/**/*.test.ts']
                    : ['test/e2e/*.test.ts', 'test/conformance/quick/*.test.ts'],
                testTimeout: 1_800_000,
                hookTimeout: 3_600_000,
                expect: { poll: patient },
                sequence: { groupOrder: 2 },
              },
            },
            {
              extends: true as const,
              test: {
                name: 'conformance',
                include: ['test/conformance/**/*.test.ts'],
                testTimeout: 1_800_000,
                hookTimeout: 3_600_000,
                sequence: { groupOrder: 3 },
              },
            },
          ]
        : []),
    ],
  },
})
