type t = D0;
type D0 = {
    l?: D1;
    r?: D1;
};
type D1 = {
    l?: D2;
    r?: D2;
};
type D2 = {
    l?: D3;
    r?: D3;
};
type D3 = {
    l?: D4;
    r?: D4;
};
type D4 = {
    l?: D5;
    r?: D5;
};
type D5 = {
    l?: D6;
    r?: D6;
};
type D6 = {
    l?: D7;
    r?: D7;
};
type D7 = {
    l?: D8;
    r?: D8;
};
type D8 = {
    l?: D9;
    r?: D9;
};
type D9 = {
    l?: D10;
    r?: D10;
};
type D10 = {
    l?: D11;
    r?: D11;
};
type D11 = {
    l?: string;
    r?: string;
};
