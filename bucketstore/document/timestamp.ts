/**
 * Times of documents: whole seconds of UTC, in records as a number, to people as
 * `YYYY-MM-DDTHH:MM:SSZ`. There is one spelling of each second; fractions, offsets and lower case
 * are refused. Computed here from the calendar's rules, so no time zone or locale can enter.
 */

const DAY_SECONDS = 86_400;
/** Days from 0000-03-01 to 1970-01-01: counting years from March puts the leap day last. */
const DAYS_TO_EPOCH = 719_468;
const ERA_DAYS = 146_097;
const YEAR_ZERO = -62_167_219_200;
const YEAR_TEN_THOUSAND = 253_402_300_800;

/**
 * The text of a time.
 * @param seconds whole seconds since the epoch, within the years 0000 to 9999
 * @throws RangeError for anything else
 */
export function formatTimestamp(seconds: number): string {
  if (!Number.isInteger(seconds) || seconds < YEAR_ZERO || seconds >= YEAR_TEN_THOUSAND) {
    throw new RangeError(`a time is whole seconds in the years 0000 to 9999, got ${seconds}`);
  }
  const days = Math.floor(seconds / DAY_SECONDS);
  const rest = seconds - days * DAY_SECONDS;
  const shifted = days + DAYS_TO_EPOCH;
  const era = Math.floor(shifted / ERA_DAYS);
  const dayOfEra = shifted - era * ERA_DAYS;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const date = `${four(year)}-${two(month)}-${two(day)}`;
  const minutes = Math.floor(rest / 60);
  const time = `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(rest % 60)}`;
  return `${date}T${time}Z`;
}

/** Seconds since the epoch of a time in its one spelling; null for any other text. */
export function parseTimestamp(text: string): number | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z$/.exec(text);
  if (match === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map(Number);
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return null;
  const seconds = daysOf(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second;
  // A day that its month lacks comes out as a day of the next one, and so as another text.
  return seconds < YEAR_TEN_THOUSAND && formatTimestamp(seconds) === text ? seconds : null;
}

/** Days since the epoch of a date of the proleptic Gregorian calendar. */
function daysOf(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * ERA_DAYS + dayOfEra - DAYS_TO_EPOCH;
}

function four(value: number): string {
  return value >= 1000 ? String(value) : String(value).padStart(4, '0');
}

/** Five of them are made for every write. */
function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}
